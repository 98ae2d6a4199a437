# SPDX-License-Identifier: Apache-2.0
# The runtime alone, cross-built for AArch64, with its longest tests run under qemu; WHOLE: with all
# quick tests. Skipped, with the reason, where a part is missing.
#   cmake -DKILN_SOURCE=... -DKILN_LAB=lab.py -DWORK=... [-DLAUNCHER=ccache] [-DWHOLE=ON]
#         -P aarch64_runtime.cmake
include(${CMAKE_CURRENT_LIST_DIR}/build_steps.cmake)
find_program(cxx aarch64-linux-gnu-g++)
find_program(qemu NAMES qemu-aarch64-static qemu-aarch64)
set(root $ENV{KILN_ARM64_ROOT})
if(NOT root)
  execute_process(COMMAND ${KILN_LAB} path bookworm-arm64/dev OUTPUT_VARIABLE root
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

foreach(part "cxx;aarch64-linux-gnu-g++" "qemu;qemu-aarch64-static" "root;the arm64 -dev packages")
  list(GET part 0 variable)
  list(GET part 1 what)
  if(NOT ${variable} OR NOT EXISTS ${${variable}})
    skip("${what} is not here")
    return()
  endif()
endforeach()

set(ENV{KILN_ARM64_ROOT} ${root})
set(TOOLCHAIN ${KILN_SOURCE}/cmake/toolchains/aarch64-linux-gnu.cmake)
if(NOT WHOLE)
  set(TESTS runtime_test ladder_test)
  foreach(library runtime runtime_shared)
    list(APPEND TESTS c_api_test_${library} c_launch_test_${library})
  endforeach()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/runtime_alone.cmake)
