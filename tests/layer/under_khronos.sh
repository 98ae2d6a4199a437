#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command with the laboratory's ICD loader of Khronos: under_khronos.sh LAB COMMAND...
# Skipped by exit code 77 where there is none.
lab=$1
shift
root=$("$lab" path sid/khronos) || {
  echo "SKIP: the laboratory's Khronos loader is not fetched"
  exit 77
}
LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu exec "$@"
