#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Has Android devices compile a base pack, and fetches what they made:
#
#     phones.sh PROGRAM BASE FOLDER SERIAL...
#
# PROGRAM is phone.cpp, built for Android. Writes the overlay FOLDER/SERIAL, which kiln overlay pack
# reads.
# Given again, a device goes on where it was. Exit code 1: something failed on some of them.
#
# With KILN_ROOT_SHELL="su -c", or what else runs one word as root on the device, its clocks are held
# up meanwhile by performance.sh, beside this file. What it cannot set it names, and goes on.
set -u
[ $# -ge 4 ] || { echo "usage: phones.sh PROGRAM BASE FOLDER SERIAL..." >&2; exit 2; }
program=$1 base=$2 folder=$3
shift 3
place=/data/local/tmp/kiln
code=0
mkdir -p "$folder"

# performance.sh on a device; nothing where nobody asked for it.
held=
hold() {
  [ -n "${KILN_ROOT_SHELL-}" ] || return 0
  adb -s "$1" shell -n "$KILN_ROOT_SHELL 'sh $place/performance.sh $2'"
}
release() {
  [ -z "$held" ] || hold "$held" restore || code=1
  held=
}
trap release EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# What a device has compiled is fetched, whatever it failed at.
run_on() {
  adb -s "$1" shell -n "mkdir -p $place" &&
    adb -s "$1" push "$program" $place/phone &&
    adb -s "$1" push "$base" $place/base.kiln || return
  if [ -n "${KILN_ROOT_SHELL-}" ]; then
    adb -s "$1" push "$(dirname "$0")/performance.sh" $place/performance.sh || return
    held=$1
    hold "$1" set || echo "phones.sh: $1: not all of its clocks are held up" >&2
  fi
  adb -s "$1" shell -n "cd $place && chmod 700 phone && \
    LD_LIBRARY_PATH=/vendor/lib64 timeout 3600 ./phone base.kiln overlay"
  ended=$?
  release
  rm -rf "${folder:?}/$1"
  adb -s "$1" pull $place/overlay "$folder/$1" && return $ended
}

for serial in "$@"; do
  run_on "$serial" || { echo "phones.sh: $serial: failed" >&2; code=1; }
done
exit $code
