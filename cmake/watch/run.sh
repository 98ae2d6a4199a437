#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs `kiln fleet watch` for each file of /etc/kiln/watch.d, or of the folder that is given. The words of
# a file NAME.conf are the options; lines that begin with # are comments. The file's owner runs the
# command, so that packs and Mesa's cache belong to who starts the application.
status=0
for file in "${1:-${DPKG_ROOT:-}/etc/kiln/watch.d}"/*.conf; do
  [ -f "$file" ] || continue
  owner=$(stat -L -c %U "$file")
  if [ "$owner" = "$(id -un)" ]; then
    set -- kiln fleet watch
  else
    home=$(getent passwd "$owner" | cut -d: -f6)
    set -- runuser -u "$owner" -- env "HOME=$home" kiln fleet watch
  fi
  sed '/^[[:space:]]*#/d' "$file" | xargs -r "$@" || status=1
done
exit $status
