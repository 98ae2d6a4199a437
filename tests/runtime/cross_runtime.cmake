# SPDX-License-Identifier: Apache-2.0
# The runtime alone, cross-built for MACHINE, with its longest tests: aarch64 or armv7, under qemu, or
# i686, whose programs x86-64 runs. On aarch64 with those of the shared library, on armv7 with those of
# the packs. Skipped, with the reason, where a part is missing.
#   cmake -DMACHINE=... -DKILN_SOURCE=... -DKILN_LAB=lab.py -DWORK=... [-DLAUNCHER=ccache] -P cross_runtime.cmake
include(${CMAKE_CURRENT_LIST_DIR}/build_steps.cmake)
# A machine's triple, what runs its programs, its root's variable and suite, more tests.
set(of_aarch64 aarch64-linux-gnu qemu-aarch64 KILN_ARM64_ROOT bookworm-arm64 ladder_test
  c_api_test_runtime_shared c_launch_test_runtime_shared c_extensions_test_launch_shared)
set(of_armv7 arm-linux-gnueabihf qemu-arm KILN_ARMHF_ROOT bookworm-armhf ladder_test format_test)
set(of_i686 i686-linux-gnu ld-linux.so.2 KILN_I386_ROOT bookworm-i386)
list(POP_FRONT of_${MACHINE} triple run_by variable suite)
find_program(emulator NAMES ${run_by}-static ${run_by} PATHS /usr/${triple}/lib)
find_program(cxx ${triple}-g++)
find_root(${variable} ${suite}/dev)
need("cxx=${triple}-g++" "emulator=${run_by}" "root=the -dev packages of ${suite}")

set(TOOLCHAIN ${KILN_SOURCE}/cmake/toolchains/${triple}.cmake)
set(TESTS runtime_test c_api_test_runtime c_launch_test_runtime c_extensions_test_launch
  ${of_${MACHINE}})
include(${CMAKE_CURRENT_LIST_DIR}/runtime_alone.cmake)
