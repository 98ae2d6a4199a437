# SPDX-License-Identifier: Apache-2.0
# Cross build for AArch64 Linux with Debian's cross compiler; tests run under qemu.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triple aarch64-linux-gnu)
set(root KILN_ARM64_ROOT)
set(suite bookworm-arm64)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)

find_program(KILN_QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64)
if(KILN_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${KILN_QEMU_AARCH64} -cpu cortex-a57 -L /usr/${triple})
endif()
