#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a base pack in N parts on this machine, by GNU parallel, and merges them.
#
#     shards.sh BASE N OUTPUT [OPTIONS of kiln build...]
#
# JOBS: parts at a time; default: one for each processor. The parts lie in OUTPUT.N-shards. Given
# again, it goes on where it was. Exit code 1: some jobs failed; OUTPUT has the others.
set -eu
[ $# -ge 3 ] || { echo "usage: shards.sh BASE N OUTPUT [OPTIONS...]" >&2; exit 2; }
base=$1 count=$2 output=$3
shift 3
shards=$output.$count-shards
mkdir -p "$shards"
# What the log says is done holds for this base pack and these options alone.
{ cksum <"$base" && echo "$@"; } >"$shards/new"
cmp -s "$shards/new" "$shards/of" || rm -f "$shards/log"
mv "$shards/new" "$shards/of"

code=0
seq "$count" | parallel --quote --jobs "${JOBS:-100%}" --retries 3 \
  --joblog "$shards/log" --resume-failed \
  kiln build "$base" --shard "{}/$count" --jobs 1 -o "$shards/{}.kiln" "$@" || code=1
kiln pack merge --base "$base" "$shards"/*.kiln -o "$output"
exit $code
