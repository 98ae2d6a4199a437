# SPDX-License-Identifier: Apache-2.0
# The runtime alone, cross-built for MACHINE, with its longest tests: aarch64 or armv7, under qemu, or
# i686, whose programs x86-64 runs; on armv7 with those of the packs. WHOLE: with all quick tests. Skipped, with the reason, where a part is missing.
#   cmake -DMACHINE=... -DKILN_SOURCE=... -DKILN_LAB=lab.py -DWORK=... [-DLAUNCHER=ccache]
#         [-DWHOLE=ON] -P cross_runtime.cmake
include(${CMAKE_CURRENT_LIST_DIR}/build_steps.cmake)
# A machine's triple, what runs its programs, its root's variable and suite, more tests.
set(of_aarch64 aarch64-linux-gnu qemu-aarch64 KILN_ARM64_ROOT bookworm-arm64)
set(of_armv7 arm-linux-gnueabihf qemu-arm KILN_ARMHF_ROOT bookworm-armhf format_test)
set(of_i686 i686-linux-gnu ld-linux.so.2 KILN_I386_ROOT bookworm-i386)
list(POP_FRONT of_${MACHINE} triple run_by variable suite)
find_program(emulator NAMES ${run_by}-static ${run_by} PATHS /usr/${triple}/lib)
find_program(cxx ${triple}-g++)
set(root $ENV{${variable}})
if(NOT root)
  execute_process(COMMAND ${KILN_LAB} path ${suite}/dev OUTPUT_VARIABLE root
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

foreach(part "cxx;${triple}-g++" "emulator;${run_by}" "root;the -dev packages of ${suite}")
  list(GET part 0 found)
  list(GET part 1 what)
  if(NOT ${found} OR NOT EXISTS ${${found}})
    skip("${what} is not here")
    return()
  endif()
endforeach()

set(ENV{${variable}} ${root})
set(TOOLCHAIN ${KILN_SOURCE}/cmake/toolchains/${triple}.cmake)
if(NOT WHOLE)
  set(TESTS runtime_test ladder_test ${of_${MACHINE}})
  foreach(library runtime runtime_shared)
    list(APPEND TESTS c_api_test_${library} c_launch_test_${library})
  endforeach()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/runtime_alone.cmake)
