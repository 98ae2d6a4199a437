# SPDX-License-Identifier: Apache-2.0
# Cross build for 32-bit x86 Linux with Debian's cross compiler, for tests, which x86-64 runs.
set(CMAKE_SYSTEM_PROCESSOR i686)
set(triple i686-linux-gnu)
set(root KILN_I386_ROOT)
set(suite bookworm-i386)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)

# Programs find the C library that comes with the compiler: on a system of 64 bits there is no other.
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-Wl,-dynamic-linker,/usr/${triple}/lib/ld-linux.so.2 -Wl,-rpath,/usr/${triple}/lib")
