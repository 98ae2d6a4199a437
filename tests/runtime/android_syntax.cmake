# SPDX-License-Identifier: Apache-2.0
# Compiles, without output, the sources that have code for Android alone, as Clang for Android
# does, over the headers of AArch64 Linux: there is no NDK here. Skipped, with the reason,
# where a part is missing.
#   cmake -DKILN_SOURCE=... -DKILN_LAB=lab.py -DWORK=... -P android_syntax.cmake
include(${CMAKE_CURRENT_LIST_DIR}/build_steps.cmake)
find_program(clang NAMES clang++ clang++-15 clang++-18 clang++-17 clang++-16 clang++-14 clang++-19)
file(GLOB standard_library /usr/aarch64-linux-gnu/include/c++/*)
set(root $ENV{KILN_ARM64_ROOT})
if(NOT root)
  execute_process(COMMAND ${KILN_LAB} path bookworm-arm64/dev OUTPUT_VARIABLE root
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT clang OR NOT standard_library OR NOT EXISTS "${root}/usr/include")
  skip("wanted are clang++, g++-aarch64-linux-gnu and the arm64 -dev packages")
  return()
endif()

# All that FlatBuffers and the runtime want of the NDK's own headers.
file(WRITE ${WORK}/android/api-level.h "#pragma once\n")
file(WRITE ${WORK}/sys/system_properties.h "#pragma once\n#define PROP_VALUE_MAX 92\n"
  "extern \"C\" int __system_property_get(const char *name, char *value);\n")
list(GET standard_library -1 standard_library)
set(compile ${clang} --target=aarch64-linux-android24 -std=c++17 -fsyntax-only
  -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -nostdlibinc
  -isystem ${standard_library} -isystem ${standard_library}/aarch64-linux-gnu
  -isystem /usr/aarch64-linux-gnu/include -isystem ${root}/usr/include -isystem ${WORK}
  -I${KILN_SOURCE} -I${KILN_SOURCE}/runtime/include -I${KILN_SOURCE}/packs/include
  -I${KILN_SOURCE}/packs/generated -DCL_USE_DEPRECATED_OPENCL_1_2_APIS)

file(GLOB_RECURSE sources ${KILN_SOURCE}/runtime/*.cpp ${KILN_SOURCE}/packs/*.cpp)
set(count 0)
foreach(source ${sources})
  file(STRINGS ${source} for_android REGEX "__ANDROID__")
  if(for_android)
    run(${compile} ${source})
    math(EXPR count "${count} + 1")
  endif()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "no source has code for Android")
endif()
