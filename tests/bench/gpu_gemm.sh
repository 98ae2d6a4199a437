#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kiln's float GEMM beside CLBlast's on a machine with a real GPU, and how fast the tiled kernel is
# with other tiles. Needs the driver, an ICD loader, and three files, with libclblast.so.1 beside
# the first where the machine has none:
#
#   tests/bench/gpu_gemm.sh GEMM_COMPARE BASE_PACK SOURCE
#
# GEMM_COMPARE is build/release/bin/kiln_gemm_compare, BASE_PACK what `kiln compile` made of
# manifests/case-studies.toml, SOURCE kernels/gemm_f32/gemm_f32_tiled.cl. Prints everything as it
# comes; first the comparison, then the sweep, sorted at the end by the speed at the largest size.
#
# From the environment: OUT, a folder for what is printed; DEVICE, a glob ('NVIDIA*'); SIZES; TOTAL,
# the seconds of all (200); JOBS, processes that compile at a time in the sweep (8); OPTIONS, a file
# of build options to sweep, a set a line; STEPS, of "compare best sweep": "best" is the
# comparison with the best of several parameters of CLBlast.
set -uo pipefail
[ $# -ge 3 ] || { sed -n '2,17p' "$0" | cut -c3-; exit 2; }
compare=$(realpath "$1") pack=$(realpath "$2") source=$(realpath "$3")
device=${DEVICE:-NVIDIA*} sizes=${SIZES:-1024,4096} total=${TOTAL:-200} jobs=${JOBS:-8}
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
export LD_LIBRARY_PATH=$(dirname "$compare")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export CUDA_CACHE_DISABLE=1

if [ -z "${OCL_ICD_VENDORS:-}" ] && [[ $device = NVIDIA* ]]; then
  library=$(ldconfig -p | sed -n 's/.*libnvidia-opencl\.so\.1.* => //p' | head -n 1)
  [ -n "$library" ] ||
    library=$(find / -xdev -name 'libnvidia-opencl.so.1' 2>/dev/null | head -n 1) || true
  [ -n "$library" ] || library=$(find /usr/local -name 'libnvidia-opencl.so.1' | head -n 1)
  [ -n "$library" ] || { echo "no libnvidia-opencl.so.1 on this machine" >&2; exit 5; }
  mkdir -p "$out/vendors"
  echo "$library" >"$out/vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$out/vendors
fi

status=0
wants() { [[ " ${STEPS:-compare best sweep} " = *" $1 "* ]]; }
left() { # seconds, but never more than $1
  local rest=$((total - SECONDS))
  [ "$rest" -lt "$1" ] && echo "$rest" || echo "$1"
}

comparison() { # name, further words
  local name=$1 seconds
  shift
  seconds=$(left 100)
  [ "$seconds" -ge 10 ] || { echo "== $name: no time is left"; return 1; }
  echo "== $name, after $SECONDS s"
  timeout -k 5 "$seconds" "$compare" "$pack" --device "$device" --sizes "$sizes" --longest 0.3 \
    --json "$@" >"$out/$name.json"
}

if wants compare; then comparison compare || status=1; fi
if wants best; then comparison best --try-parameters || status=1; fi
if wants sweep && [ "$(left 20)" -ge 20 ]; then
  echo "== sweep, after $SECONDS s"
  words=(--device "$device" --sizes "$sizes" --sweep "$source" --lock "$out/lock")
  [ -z "${OPTIONS:-}" ] || words+=(--options "$OPTIONS")
  seconds=$(left 150)
  for job in $(seq "$jobs"); do
    timeout -k 5 "$seconds" "$compare" "${words[@]}" --share "$job/$jobs" \
      --seconds $((seconds - 10)) 2>&1 | tee "$out/sweep.$job.txt" &
  done
  wait
  echo "== the sweep, the fastest at the largest size first"
  grep -h -- -DTILE "$out"/sweep.*.txt | sort -k "$(tr ',' '\n' <<<"$sizes" | wc -l)nr" |
    tee "$out/sweep.txt"
fi
echo "== done after $SECONDS s"
exit $status
