#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves and measures Kiln on a machine with a real NVIDIA GPU: builds and finishes every variant,
# loads and launches each, and measures a start to its first results against the goals, beside a
# pack without finishing, the overlay, damaged packs and OpenCV's own cache.
# Needs the driver, an ICD loader, python3 and three files, with kiln_startup beside KILN:
#
#   tests/bench/gpu.sh KILN BASE_PACK [PACKS]
#
# KILN is build/release/bin/kiln, BASE_PACK what `kiln compile` made of
# manifests/case-studies.toml; the folder PACKS gets the packs that are built. Prints one table at
# the end, goal, measured, met; exit 1 where a goal is not met or a step failed.
#
# From the environment: OUT, a folder for the log and the JSON; WORK, a folder to work in; ROUNDS
# and TOTAL, the most rounds of the start and seconds of all; STEPS, some of them alone.
# KILN_GPU_TRY=1 goes through the same steps on PoCL, and judges nothing.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,18p' "$0" | cut -c3-; exit 2; }
kiln=$(realpath "$1") base=$(realpath "$2") packs=${3:-}
here=$(dirname "$(realpath "$0")")
work=${WORK:-$(mktemp -d)}
total=${TOTAL:-530}
mkdir -p "$work/vendors"
cp "$base" "$work/base.kiln"
if [ -n "${OUT:-}" ]; then
  mkdir -p "$OUT"
  exec > >(tee "$OUT/log.txt") 2>&1
  log=$!
fi
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 KILN_STORE=none

if [ -n "${KILN_GPU_TRY:-}" ]; then
  device=${DEVICE:-Portable*}
  export POCL_CACHE_DIR=$work/pocl OPENCV_OPENCL_DEVICE=:CPU:
  mkdir -p "$POCL_CACHE_DIR"
else
  device='NVIDIA*'
  library=$(ldconfig -p | sed -n 's/.*libnvidia-opencl\.so\.1.* => //p' | head -n 1)
  [ -n "$library" ] ||
    library=$(find / -xdev -name 'libnvidia-opencl.so.1' 2>/dev/null | head -n 1) || true
  [ -n "$library" ] || library=$(find /usr/local -name 'libnvidia-opencl.so.1' | head -n 1)
  [ -n "$library" ] || { echo "no libnvidia-opencl.so.1 on this machine" >&2; exit 5; }
  echo "$library" >"$work/vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$work/vendors CUDA_CACHE_DISABLE=1
fi

failed=
limited() { # seconds, name, command: runs it within its limit and what is left of the whole
  local limit=$1 name=$2 left=$((total - SECONDS))
  shift 2
  [ -z "${STEPS:-}" ] || [[ " $STEPS " = *" $name "* ]] || return 0
  [ "$limit" -lt "$left" ] || limit=$left
  if [ "$limit" -lt 5 ]; then
    echo "== $name: no time is left"
    failed+=" $name"
    return 1
  fi
  echo "== $name, after $SECONDS s"
  timeout -k 5 "$limit" "$@"
  local code=$?
  [ $code -eq 0 ] && return 0
  [ $code -ne 124 ] && [ $code -ne 137 ] || echo "   it was not done after $limit s"
  failed+=" $name"
  return 1
}
step() { # seconds, name: a step of gpu_steps.py
  limited "$1" "$2" python3 "$here/gpu_steps.py" "$2" --kiln "$kiln" --device "$device" \
    --work "$work" --limit "$1"
}

limited 60 devices "$kiln" devices --device "$device"
step 150 build
limited 20 verify "$kiln" pack verify "$work/finished.kiln"
limited 20 inspect "$kiln" pack inspect "$work/finished.kiln"
step 80 launches
step 200 startup
step 40 overlay
step 60 damaged
step 170 plain
step 200 also
step 80 opencv
total=$((total + 20))
step 20 figures

[ -z "$packs" ] || { mkdir -p "$packs" && cp "$work"/{finished,plain,also}.kiln "$packs"; }
if [ -n "${OUT:-}" ]; then
  for name in figures startup build launches damaged plain opencv; do
    [ ! -e "$work/$name.json" ] || cp "$work/$name.json" "$OUT"
  done
fi
echo "== done after $SECONDS s${failed:+; failed:$failed}"
exec >&- 2>&-
[ -z "${log:-}" ] || wait "$log" || true
[ -z "$failed" ]
