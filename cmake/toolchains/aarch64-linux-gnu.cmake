# SPDX-License-Identifier: Apache-2.0
# Cross build for AArch64 Linux with Debian's cross compiler; tests run under qemu.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triple aarch64-linux-gnu)
set(root KILN_ARM64_ROOT)
set(suite bookworm-arm64)
set(qemu qemu-aarch64)
set(cpu cortex-a57)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
