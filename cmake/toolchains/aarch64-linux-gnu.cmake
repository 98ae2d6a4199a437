# SPDX-License-Identifier: Apache-2.0
# Cross build for AArch64 Linux with Debian's cross compiler; tests run under qemu.
#
# KILN_ARM64_ROOT (cache or environment variable) is a folder with the arm64 -dev packages
# that cmake/KilnDependencies.cmake names, under usr/. By default it is the laboratory's:
# what `tests/lab/lab.py path bookworm-arm64/dev` prints.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triple aarch64-linux-gnu)

set(CMAKE_C_COMPILER ${triple}-gcc)
set(CMAKE_CXX_COMPILER ${triple}-g++)

if(NOT KILN_ARM64_ROOT)
  set(KILN_ARM64_ROOT $ENV{KILN_ARM64_ROOT})
endif()
if(NOT KILN_ARM64_ROOT)
  execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../tests/lab/lab.py path bookworm-arm64/dev
    OUTPUT_VARIABLE KILN_ARM64_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT IS_DIRECTORY "${KILN_ARM64_ROOT}/usr/include")
  message(FATAL_ERROR "KILN_ARM64_ROOT (\"${KILN_ARM64_ROOT}\") has no usr/include: "
    "run tests/lab/lab.py fetch, or name a folder with the arm64 -dev packages")
endif()
set(KILN_ARM64_ROOT ${KILN_ARM64_ROOT} CACHE PATH "Folder with the arm64 -dev packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KILN_ARM64_ROOT)

set(CMAKE_FIND_ROOT_PATH ${KILN_ARM64_ROOT} /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)  # header-only libraries may be the host's
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(KILN_QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64)
if(KILN_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${KILN_QEMU_AARCH64} -cpu cortex-a57 -L /usr/${triple})
endif()
