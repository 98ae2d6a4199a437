# SPDX-License-Identifier: Apache-2.0
# The runtime alone, cross-built for MACHINE, with its longest tests: aarch64, under qemu, or i686, whose
# programs x86-64 runs; WHOLE: with all quick tests. Skipped, with the reason, where a part is missing.
#   cmake -DMACHINE=... -DKILN_SOURCE=... -DKILN_LAB=lab.py -DWORK=... [-DLAUNCHER=ccache]
#         [-DWHOLE=ON] -P cross_runtime.cmake
include(${CMAKE_CURRENT_LIST_DIR}/build_steps.cmake)
set(triple ${MACHINE}-linux-gnu)
if(MACHINE STREQUAL "i686")
  set(variable KILN_I386_ROOT)
  set(suite bookworm-i386)
  set(run_by ld-linux.so.2)
  find_program(emulator ${run_by} PATHS /usr/${triple}/lib NO_DEFAULT_PATH)
else()
  set(variable KILN_ARM64_ROOT)
  set(suite bookworm-arm64)
  set(run_by qemu-aarch64-static)
  find_program(emulator NAMES qemu-aarch64-static qemu-aarch64)
endif()
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
  set(TESTS runtime_test ladder_test)
  foreach(library runtime runtime_shared)
    list(APPEND TESTS c_api_test_${library} c_launch_test_${library})
  endforeach()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/runtime_alone.cmake)
