#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the reference of the public headers, docs/Doxyfile, in a folder of the build. A warning fails.
#   reference.sh SOURCE OUTPUT
set -eu
if ! command -v doxygen >/dev/null; then
  echo "SKIP: doxygen is not installed"
  exit 77
fi
cd "$1"
mkdir -p "$2"
{
  cat docs/Doxyfile
  echo "OUTPUT_DIRECTORY = $2"
} | doxygen -
test -s "$2/html/index.html"
