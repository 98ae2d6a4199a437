# SPDX-License-Identifier: Apache-2.0
# What `./bootstrap.sh release` builds with, for KILN_RELEASE_MACHINE (x86_64 or aarch64): Clang
# against the C library and the libstdc++ of Debian 11, so that what is built runs on any newer
# system, and the other libraries of Debian 12, which are linked statically. Debian 12's own compiler
# would bring a libstdc++ that needs Debian 12's C library. `tests/lab/lab.py fetch
# bullseye-amd64 bookworm-amd64` (arm64) brings the folders.
set(KILN_RELEASE_MACHINE x86_64 CACHE STRING "x86_64 or aarch64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KILN_RELEASE_MACHINE)
if(KILN_RELEASE_MACHINE STREQUAL "x86_64")
  set(architecture amd64)
else()
  set(architecture arm64)
endif()
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../tests/lab/lab.py path
  OUTPUT_VARIABLE laboratory OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_SYSROOT ${laboratory}/bullseye-${architecture}/sysroot)
set(CMAKE_FIND_ROOT_PATH ${laboratory}/bookworm-${architecture}/dev)
foreach(folder ${CMAKE_SYSROOT} ${CMAKE_FIND_ROOT_PATH})
  if(NOT IS_DIRECTORY ${folder}/usr/include)
    message(FATAL_ERROR "${folder} has no usr/include: run tests/lab/lab.py fetch "
      "bullseye-${architecture} bookworm-${architecture}")
  endif()
endforeach()

set(triple ${KILN_RELEASE_MACHINE}-linux-gnu)
cmake_host_system_information(RESULT machine QUERY OS_PLATFORM)
if(NOT machine STREQUAL KILN_RELEASE_MACHINE)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${KILN_RELEASE_MACHINE})
endif()
# Debian 12's, whichever others are installed: another version makes other bytes.
set(CMAKE_C_COMPILER /usr/lib/llvm-15/bin/clang)  # beside its own ld.lld
set(CMAKE_CXX_COMPILER /usr/lib/llvm-15/bin/clang++)
set(CMAKE_C_COMPILER_TARGET ${triple})
set(CMAKE_CXX_COMPILER_TARGET ${triple})
set(CMAKE_LIBRARY_ARCHITECTURE ${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# lld also links for the other machine. Before glibc 2.34 threads are a library of their own.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-fuse-ld=lld -pthread -static-libstdc++ -static-libgcc")
endforeach()

# No path of this machine in what is built, nor the room that a build folder's path leaves in a library
# when installing takes it out.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT
    "-ffile-prefix-map=${source}=. -ffile-prefix-map=${laboratory}=/usr/src")
endforeach()
