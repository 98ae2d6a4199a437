#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wine.sh WINE PROGRAM ARGUMENTS...: runs a program for Windows. What it prints goes through a file:
# the processes of Windows itself, which the first program starts, would keep a pipe open. Without a
# display, and without what asks to be downloaded. Once more where Wine's server was just ending: then
# the program has not begun.
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
run() {
  WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= DISPLAY='' "$@" >"$out" 2>&1 </dev/null
  code=$?
}
run "$@"
if [ "$code" != 0 ] && grep -q '^wine client error:0: recvmsg' "$out"; then run "$@"; fi
cat "$out"
exit $code
