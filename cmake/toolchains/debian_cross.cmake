# SPDX-License-Identifier: Apache-2.0
# What the toolchain files for other machines under Linux share: Debian's cross compiler of `triple`,
# and a folder with the -dev packages that cmake/KilnDependencies.cmake names, under usr/. The cache
# or environment variable named `root` gives it; by default it is the laboratory's, `suite`/dev.
# Programs run under `qemu` as on the processor `cpu`, if the toolchain file sets them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${triple}-gcc)
set(CMAKE_CXX_COMPILER ${triple}-g++)

if(NOT ${root})
  set(${root} $ENV{${root}})
endif()
if(NOT ${root})
  execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../tests/lab/lab.py path ${suite}/dev
    OUTPUT_VARIABLE ${root} OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT IS_DIRECTORY "${${root}}/usr/include")
  message(FATAL_ERROR "${root} (\"${${root}}\") has no usr/include: "
    "run tests/lab/lab.py fetch ${suite}, or name a folder with the -dev packages")
endif()
set(${root} ${${root}} CACHE PATH "Folder with the -dev packages of ${suite}")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ${root})

set(CMAKE_FIND_ROOT_PATH ${${root}} /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)  # header-only libraries may be the host's
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

if(qemu)
  find_program(KILN_QEMU NAMES ${qemu}-static ${qemu})
  if(KILN_QEMU)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${KILN_QEMU} -cpu ${cpu} -L /usr/${triple})
  endif()
endif()
