#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every variant on a machine with a real GPU: each is checked against its reference, tuned,
# and measured at the guides' sizes, beside OpenCV's own OpenCL kernels where Python has cv2.
# Needs the driver, an ICD loader, python3 and these files, with libkiln_case_references.so beside
# each executable and kiln-bench beside KILN:
#
#   tests/bench/gpu_kernels.sh KILN BASE_PACK KERNEL_CHECK [WORK] [DEVICE]
#
# KILN is build/release/bin/kiln, BASE_PACK what `kiln compile` made of
# manifests/case-studies.toml, KERNEL_CHECK build/release/bin/kiln_kernel_check, DEVICE a glob
# ('NVIDIA*'). WORK gets table.md, for docs/understand/measurements.md, with the JSON it was made of, and
# page.html.
#
# From the environment: STEPS, of which a later run with the same WORK may do the rest ("startup"
# is one more, for the page); CHECK_TO, the largest width and height that is checked; JOBS, checks
# at a time; CHECK, the time that all of them have; TUNE and BENCH, the time for launches, to which
# each variant adds a process or two; OPENCV, that of finding a best variant for each of its
# operations. All of it took 14 minutes on 16 cores with an H200.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,17p' "$0" | cut -c3-; exit 2; }
kiln=$(realpath "$1") base=$(realpath "$2") check=$(realpath "$3")
here=$(dirname "$(realpath "$0")")
work=${4:-$(mktemp -d)} device=${5:-NVIDIA*}
steps=${STEPS:-build check tune bench opencv}
mkdir -p "$work/vendors" "$work/checks"
cd "$work"

if [ -z "${OCL_ICD_VENDORS:-}" ] && [[ $device = NVIDIA* ]]; then
  library=$(ldconfig -p | sed -n 's/.*libnvidia-opencl\.so\.1.* => //p' | head -n 1)
  [ -n "$library" ] ||
    library=$(find / -xdev -name 'libnvidia-opencl.so.1' 2>/dev/null | head -n 1) || true
  [ -n "$library" ] || library=$(find /usr/local -name 'libnvidia-opencl.so.1' | head -n 1)
  [ -n "$library" ] || { echo "no libnvidia-opencl.so.1 on this machine" >&2; exit 5; }
  echo "$library" >vendors/nvidia.icd
  export OCL_ICD_VENDORS=$work/vendors
fi

status=0
step() { # name: whether it is wanted
  [[ " $steps " = *" $1 "* ]] && echo "== $1, after $SECONDS s"
}
pack() { # the tuned pack where there is one
  if [ -e tuned.kiln ]; then echo tuned.kiln; else echo built.kiln; fi
}

echo "== device"
"$kiln" devices --device "$device"
"$kiln" devices --device "$device" --json >devices.json

if step build; then
  "$kiln" build "$base" --device "$device" -o built.kiln || status=1
  "$kiln" pack verify built.kiln
fi

if step check; then
  "$kiln" pack inspect built.kiln --json >inspect.json
  python3 - >variants.txt <<'PYTHON'
import json
for program in json.load(open("inspect.json"))["programs"]:
    if program.get("reference"):
        for variant in program["variants"]:
            print(f"{program['name']}/{variant['name']}")
PYTHON
  rm -f checks/*
  export check device
  export to=${CHECK_TO:-64}
  # shellcheck disable=SC2016
  timeout "${CHECK:-300s}" xargs -P "${JOBS:-$(nproc)}" -I{} bash -c \
    '"$check" built.kiln "$device" 1 "$to" "{}" >"checks/$(echo "{}" | tr / .).txt" 2>&1' \
    <variants.txt || status=1
  cat checks/*.txt | sed -n '/mismatches\|skipped\|the driver/p' >checks.txt
  sort checks.txt
  echo "of $(wc -l <variants.txt) variants $(grep -c ' 0 mismatches' checks.txt) are exact or within" \
    "tolerance, $(grep -c ': skipped' checks.txt) not for this device"
fi

if step tune; then
  if "$kiln" --help | grep "^  tune " >/dev/null; then
    "$kiln" tune built.kiln --device "$device" -o tuned.kiln --budget "${TUNE:-240s}" --json \
      >tune.json || status=1
  else
    echo "this kiln does not tune"
  fi
fi

if step startup; then
  CUDA_CACHE_DISABLE=1 "$kiln" bench startup --pack "$(pack)" --device "$device" --rounds 3 --json >startup.json ||
    status=1
fi

if step bench; then
  words=()
  [ ! -s tune.json ] || words+=(--tuning tune.json)
  [ ! -s startup.json ] || words+=(--startup startup.json)
  "$kiln-bench" kernels --pack "$(pack)" --device "$device" --budget "${BENCH:-100s}" --json \
    --html page.html "${words[@]+"${words[@]}"}" >kernels.json || status=1
fi

if step opencv; then
  python=$(for p in python3 /usr/bin/python3; do
    "$p" -c 'import cv2' 2>/dev/null && echo "$p" && break
  done) || true
  if [ -n "$python" ]; then
    "$python" "$here/opencv_compare.py" --kiln "$kiln" --pack "$(pack)" --device "$device" \
      --budget "${OPENCV:-15s}" --json >opencv.json || { rm -f opencv.json; status=1; }
  else
    echo "python3 has no cv2: not compared with OpenCV"
  fi
fi

if [ -s kernels.json ]; then
  python3 "$here/kernels_table.py" "$work" >table.md || status=1
  cat table.md
fi
echo "== done after $SECONDS s"
exit $status
