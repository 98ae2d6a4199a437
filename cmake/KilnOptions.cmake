# SPDX-License-Identifier: Apache-2.0
# Every option of the build. Tests and install are on only where Kiln is the top project.
if(PROJECT_IS_TOP_LEVEL)
  set(kiln_top_level ON)
else()
  set(kiln_top_level OFF)
endif()

set(kiln_builds_builder ON)
if(CMAKE_CROSSCOMPILING AND NOT kiln_top_level)
  set(kiln_builds_builder OFF)  # the project's packs are made by a kiln that runs here
endif()
option(KILN_BUILD_BUILDER "Build the builder and the kiln executable; OFF leaves the runtime"
  ${kiln_builds_builder})
option(KILN_BUILD_TESTS "Build the tests" ${kiln_top_level})
option(KILN_INSTALL "Define the install rules" ${kiln_top_level})
option(KILN_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
option(KILN_STATIC_DEPENDENCIES
  "Link libraries other than the C library statically, so that kiln runs on any newer system" OFF)
option(KILN_ZSTD
  "Read compressed packs, by zstd; OFF reads only what 'kiln pack slice --compress none' makes" ON)
option(KILN_UNITY_BUILD
  "Compile all but what applications link several sources at a time: faster, until one changes" OFF)
option(KILN_QUICK_BUILD
  "For tests alone: several sources at a time of what applications link too, the builder by -O0" OFF)
set(KILN_SANITIZE "" CACHE STRING
  "Sanitizer to build with: address (and undefined behaviour), thread, or empty for none")
set_property(CACHE KILN_SANITIZE PROPERTY STRINGS "" address thread)
option(KILN_FUZZ "Define the libFuzzer targets of tests/fuzz; needs Clang" OFF)

if(KILN_QUICK_BUILD)
  set(KILN_UNITY_BUILD ON)
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

if(WIN32 OR CMAKE_SIZEOF_VOID_P EQUAL 4)  # times and sizes of 64 bits, in all that share a stat
  add_compile_definitions(_FILE_OFFSET_BITS=64)
endif()
if(WIN32)
  add_compile_definitions(_WIN32_WINNT=0x0A00)  # functions of Windows 10
endif()

if(KILN_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms in what is instrumented.
  add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow)
endif()
if(KILN_SANITIZE STREQUAL "address")
  # vptr needs RTTI, which the runtime does without.
  set(sanitizers -fsanitize=address,undefined)
  add_compile_options(${sanitizers} -fno-sanitize=vptr -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  add_link_options(${sanitizers})
elseif(KILN_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(KILN_SANITIZE)
  message(FATAL_ERROR "KILN_SANITIZE is \"${KILN_SANITIZE}\": address, thread or empty")
endif()

if(KILN_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "KILN_FUZZ needs Clang, which has libFuzzer: use the preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
