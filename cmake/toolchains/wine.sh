#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wine.sh WINE PROGRAM ARGUMENTS...: runs a program for Windows. What it prints goes through a file:
# the processes of Windows itself, which the first program starts, would keep a pipe open. Without a
# display, and without what asks to be downloaded.
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= DISPLAY='' "$@" >"$out" 2>&1 </dev/null
code=$?
cat "$out"
exit $code
