#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes manual pages of what --help prints: kiln.1, kiln-pack.1, kiln-pack-inspect.1 and so on.
#
#     man.sh KILN FOLDER
set -eu
kiln=$1 folder=$2 here=$(dirname "$0")
version=$("$kiln" --version)
export COLUMNS=100

page() ( # the command and its name, what it is, options for help2man
  command=$1 name=$2 about=$3 && shift 3
  help2man "$@" --no-info --version-string "$name ${version#kiln }" --name "$about" \
    --output "$folder/$name.1" "$command"
  $command --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1 \2/p' |
    while read -r word about; do
      page "$command $word" "$name-$word" "$about"
    done
)

mkdir -p "$folder"
page "$kiln" kiln "compiled OpenCL programs, packed for each device" --include "$here/man.h2m"
