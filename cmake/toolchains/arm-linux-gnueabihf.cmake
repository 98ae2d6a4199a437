# SPDX-License-Identifier: Apache-2.0
# Cross build for 32-bit Arm Linux with Debian's cross compiler, for tests, which run under qemu. The
# instructions are those of Android's armeabi-v7a: ARMv7-A with NEON.
set(CMAKE_SYSTEM_PROCESSOR armv7)
set(CMAKE_C_FLAGS_INIT -mfpu=neon)
set(CMAKE_CXX_FLAGS_INIT "-mfpu=neon -Wno-psabi")  # nothing here was built by a GCC before 7.1
set(triple arm-linux-gnueabihf)
set(root KILN_ARMHF_ROOT)
set(suite bookworm-armhf)
set(qemu qemu-arm)
set(cpu cortex-a8)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
