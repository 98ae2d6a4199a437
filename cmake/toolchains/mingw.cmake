# SPDX-License-Identifier: Apache-2.0
# Cross build for 64-bit Windows with Debian's MinGW compiler; tests run under Wine.
#
# KILN_MINGW_ROOT (cache or environment variable) is a folder with usr/include and usr/lib: the
# headers of FlatBuffers, xxHash, OpenCL and Catch2, and zstd and libsodium as this compiler made
# them; for kiln.exe also the headers of CLI11, fmt, nlohmann-json, stb and toml++. By default it is the laboratory's: what `tests/lab/lab.py path mingw/dev` prints.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(triple x86_64-w64-mingw32)

# The variant with std::thread, which Debian keeps beside the one without.
set(CMAKE_C_COMPILER ${triple}-gcc-posix)
set(CMAKE_CXX_COMPILER ${triple}-g++-posix)
set(CMAKE_RC_COMPILER ${triple}-windres)
# No DLL of the compiler beside each program.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static)

if(NOT KILN_MINGW_ROOT)
  set(KILN_MINGW_ROOT $ENV{KILN_MINGW_ROOT})
endif()
if(NOT KILN_MINGW_ROOT)
  execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../tests/lab/lab.py path mingw/dev
    OUTPUT_VARIABLE KILN_MINGW_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT IS_DIRECTORY "${KILN_MINGW_ROOT}/usr/include")
  message(FATAL_ERROR "KILN_MINGW_ROOT (\"${KILN_MINGW_ROOT}\") has no usr/include: "
    "run tests/lab/lab.py fetch mingw, or name a folder with the libraries")
endif()
set(KILN_MINGW_ROOT ${KILN_MINGW_ROOT} CACHE PATH "Folder with the libraries for MinGW")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KILN_MINGW_ROOT)

# Never this system's own headers, which are those of another C library.
set(CMAKE_FIND_ROOT_PATH ${KILN_MINGW_ROOT} /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Debian has wine in PATH by one of its packages, and this path by another.
find_program(KILN_WINE NAMES wine64 wine PATHS /usr/lib/wine)
if(KILN_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/wine.sh ${KILN_WINE})
endif()
