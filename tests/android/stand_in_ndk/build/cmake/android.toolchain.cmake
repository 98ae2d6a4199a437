# SPDX-License-Identifier: Apache-2.0
# In place of the NDK's file of this name, for aar_test.py: Clang and LLD of Debian 12 for
# Android's four ABIs, over the C and C++ headers of AArch64 Linux, without a C or C++ library. What
# it links has the NDK's form, but runs nowhere: types and constants are glibc's.
set(CMAKE_SYSTEM_NAME Android)
set(CMAKE_SYSTEM_VERSION 1)  # CMake looks for no NDK itself; the NDK's file does the same
set(ANDROID TRUE)
set(CMAKE_ANDROID_NDK_VERSION 23)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ANDROID_ABI ANDROID_PLATFORM)

string(REPLACE "android-" "" level "${ANDROID_PLATFORM}")
set(triple_arm64-v8a aarch64-linux-android${level})
set(triple_armeabi-v7a armv7a-linux-androideabi${level})
set(triple_x86_64 x86_64-linux-android${level})
set(triple_x86 i686-linux-android${level})
foreach(language C CXX)
  set(CMAKE_${language}_COMPILER_TARGET ${triple_${ANDROID_ABI}})
endforeach()
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${triple_${ANDROID_ABI}})

set(CMAKE_C_COMPILER clang-15)
set(CMAKE_CXX_COMPILER clang++-15)

# aar_test.py writes the headers that these lack.
get_filename_component(own ${CMAKE_CURRENT_LIST_DIR}/../../include ABSOLUTE)
file(GLOB standard /usr/aarch64-linux-gnu/include/c++/*)
list(GET standard -1 standard)
if(ANDROID_ABI STREQUAL "armeabi-v7a")
  set(thumb "-mthumb ")  # the NDK's default
endif()
set(headers "${thumb}-Wno-unused-command-line-argument -nostdlibinc -isystem ${own}")
set(CMAKE_C_FLAGS_INIT "${headers} -isystem /usr/aarch64-linux-gnu/include")
set(CMAKE_CXX_FLAGS_INIT "${headers} -isystem ${standard} -isystem ${standard}/aarch64-linux-gnu \
-isystem /usr/aarch64-linux-gnu/include")
foreach(kind EXE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT
    "-fuse-ld=lld-15 -nostdlib -Wl,--hash-style=gnu -Wl,--unresolved-symbols=ignore-all \
-L${own}/../lib/${ANDROID_ABI}")  # the NDK's Clang asks for that style from API 23 on
endforeach()
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
