#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a test script of CMake: cmake_test.sh CMAKE ARGUMENTS... Exits as it does, or with 77 where
# it ended well and left a reason in the file that -DSKIP_FILE= names to it.
marker=$(mktemp) || exit 1
trap 'rm -f "$marker"' EXIT
cmake=$1
shift
"$cmake" -DSKIP_FILE="$marker" "$@" || exit
if [ -s "$marker" ]; then
  cat "$marker"
  exit 77
fi
