#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds tests/runtime/runtime.toml for the first device, and lets the reader in C load all of it.
#   on_device.sh KILN KILN_DROPIN_START WORK
# Exit code 77 without a device.
set -e
work=$3
mkdir -p "$work"
"$1" devices > /dev/null 2>&1 || { echo "SKIP: no OpenCL device"; exit 77; }
"$1" compile "$(dirname "$0")/../runtime.toml" -o "$work/base.kiln"
KILN_STORE=none "$1" build "$work/base.kiln" --device 0 -o "$work/built.kiln"
"$1" pack merge "$work/built.kiln" --compress fleet -o "$work/fleet.kiln"
if "$2" "$work/fleet.kiln" 1 scale/a_plain; then echo "compressed code was read"; exit 1; fi
"$1" pack merge "$work/built.kiln" --compress none -o "$work/raw.kiln"
"$2" "$work/raw.kiln" 3 scale/a_plain scale/stored scale/required invert
