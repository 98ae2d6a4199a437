#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Has Android devices compile a base pack, and fetches what they made:
#
#     phones.sh PROGRAM BASE FOLDER SERIAL...
#
# PROGRAM is phone.cpp, built for Android. Writes the overlay FOLDER/SERIAL, which kiln overlay export
# reads.
# Given again, a device goes on where it was. Exit code 1: something failed on some of them.
set -u
[ $# -ge 4 ] || { echo "usage: phones.sh PROGRAM BASE FOLDER SERIAL..." >&2; exit 2; }
program=$1 base=$2 folder=$3
shift 3
place=/data/local/tmp/kiln
mkdir -p "$folder"

# What a device has compiled is fetched, whatever it failed at.
run_on() {
  adb -s "$1" shell -n "mkdir -p $place" &&
    adb -s "$1" push "$program" $place/phone &&
    adb -s "$1" push "$base" $place/base.kiln || return
  adb -s "$1" shell -n "cd $place && chmod 700 phone && \
    LD_LIBRARY_PATH=/vendor/lib64 timeout 3600 ./phone base.kiln overlay"
  ended=$?
  rm -rf "${folder:?}/$1"
  adb -s "$1" pull $place/overlay "$folder/$1" && return $ended
}

code=0
for serial in "$@"; do
  run_on "$serial" || { echo "phones.sh: $serial: failed" >&2; code=1; }
done
exit $code
