#!/usr/bin/env bash
# Proves and measures Kiln on a machine with a real NVIDIA GPU: builds a pack there, runs
# every variant from source and from the pack's binary, checks the pixels, and measures
# what a start costs. Needs nothing but the driver, an ICD loader and three files:
#
#   tests/bench/gpu.sh KILN BASE_PACK PHOTO.png [WORK]
#
# KILN is build/release/bin/kiln, BASE_PACK what `kiln compile` made of
# manifests/tour.toml.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,11p' "$0" | cut -c3-; exit 2; }
kiln=$(realpath "$1") base=$(realpath "$2") photo=$(realpath "$3")
work=${4:-$(mktemp -d)}
mkdir -p "$work/vendors"
cd "$work"

library=$(ldconfig -p | sed -n 's/.*libnvidia-opencl\.so\.1.* => //p' | head -n 1)
[ -n "$library" ] ||
  library=$(find / -xdev -name 'libnvidia-opencl.so.1' 2>/dev/null | head -n 1) || true
[ -n "$library" ] || library=$(find /usr/local -name 'libnvidia-opencl.so.1' | head -n 1)
[ -n "$library" ] || { echo "no libnvidia-opencl.so.1 on this machine" >&2; exit 5; }
echo "$library" >vendors/nvidia.icd
export OCL_ICD_VENDORS=$work/vendors CUDA_CACHE_DISABLE=1

echo "== device"
"$kiln" devices
echo "== build"
"$kiln" build "$base" --device 'NVIDIA*' -o nvidia.kiln
"$kiln" verify nvidia.kiln
"$kiln" inspect nvidia.kiln

status=0
row() { # rung program variant pack
  local rung=$1 program=$2 variant=$3 pack=$4
  if "$kiln" run "$program" --variant "$variant" --pack "$pack" --device 'NVIDIA*' \
    --image "$photo" --output "$program-$variant-$rung.png" --report report.json --launches 100 \
    --json >result.json; then
    python3 - "$rung" <<'PYTHON'
import json, sys
r = json.load(open("result.json"))
t, c, report = r["device_nanoseconds"], r["check"], r["report"]
wrong = "byte for byte" if c["different_elements"] == 0 else (
    f"{c['different_elements']} values, at most {c['worst']:g}")
print(f"{report['program'] + '/' + report['variant']:22} {report['rung']:7} "
      f"{report['milliseconds']:9.2f} {t / 1e3:10.1f}   {wrong}")
if report["rung"] != sys.argv[1]:
    sys.exit(f"expected rung {sys.argv[1]}")
PYTHON
  else
    status=1
  fi
}

echo "== launches: rung, load in ms, device time in us of the last of 100, pixels against the reference"
for unit in laplace:scalar laplace:vec4_short sobel:px1 sobel:px16x1 epsilon:buffer \
  epsilon:r_float; do
  row source "${unit%%:*}" "${unit##*:}" "$base"
  row exact "${unit%%:*}" "${unit##*:}" nvidia.kiln
done
echo "== overlay: source at the first start, the overlay at the second and third"
for start in 1 2 3; do
  "$kiln" run laplace --variant scalar --pack "$base" --device 'NVIDIA*' --image "$photo" \
    --overlay overlay --report report.json --output "laplace-overlay-$start.png" | tail -n 1
  python3 -c 'import json; r = json.load(open("report.json"))[0]; print(
    f"  {r['"'rung'"']}, {r['"'milliseconds'"']:.2f} ms, recompiled: {r['"'recompiled'"']}")'
  cmp "laplace-overlay-$start.png" laplace-scalar-exact.png || status=1
done
"$kiln" overlay show overlay
echo "== launch"
"$kiln" bench launch --pack nvidia.kiln --device 'NVIDIA*'
echo "== startup"
"$kiln" bench startup --pack nvidia.kiln --device 'NVIDIA*' --rounds 30
exit $status
