# SPDX-License-Identifier: Apache-2.0
# Finds every dependency; downloads none. The message of a missing one names its Debian package.
include(KilnFind)
find_package(Threads REQUIRED)

if(KILN_STATIC_DEPENDENCIES)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
endif()

if(KILN_ZSTD)
  kiln_find_library(kiln_zstd HEADER zstd.h LIBRARY zstd PACKAGE libzstd-dev)
elseif(KILN_BUILD_BUILDER)
  message(FATAL_ERROR "KILN_ZSTD=OFF is for the runtime alone: set KILN_BUILD_BUILDER=OFF, too")
endif()
kiln_find_library(kiln_xxhash HEADER xxhash.h PACKAGE libxxhash-dev)
kiln_find_library(kiln_opencl_headers HEADER CL/cl.h PACKAGE opencl-c-headers)
kiln_find_library(kiln_flatbuffers HEADER flatbuffers/flatbuffers.h PACKAGE libflatbuffers-dev)

if(KILN_BUILD_BUILDER)
  kiln_find_library(kiln_sodium HEADER sodium.h LIBRARY sodium PACKAGE libsodium-dev)
  if(NOT WIN32)  # whose kiln.exe has no store
  kiln_find_library(kiln_sqlite HEADER sqlite3.h LIBRARY sqlite3 PACKAGE libsqlite3-dev)
  set_property(TARGET kiln_sqlite APPEND PROPERTY
    INTERFACE_LINK_LIBRARIES m Threads::Threads ${CMAKE_DL_LIBS})  # what the static library needs
  endif()
  kiln_find_library(kiln_toml HEADER toml++/toml.h PACKAGE libtomlplusplus-dev)
  # toml++ 3.3 asserts what it checks afterwards: "[.a" would abort where assertions are on.
  target_compile_options(kiln_toml INTERFACE "-DTOML_ASSERT(expr)=static_assert(true)")
  kiln_find_library(kiln_cli11 HEADER CLI/CLI.hpp PACKAGE libcli11-dev)
  kiln_find_library(kiln_json HEADER nlohmann/json.hpp PACKAGE nlohmann-json3-dev)
  kiln_find_library(kiln_fmt HEADER fmt/format.h PACKAGE libfmt-dev)
  # With its library each source compiles in two thirds of the time; Debian has no static one.
  find_library(kiln_fmt_LIBRARY fmt)
  mark_as_advanced(kiln_fmt_LIBRARY)
  if(kiln_fmt_LIBRARY AND NOT KILN_STATIC_DEPENDENCIES)
    target_link_libraries(kiln_fmt INTERFACE ${kiln_fmt_LIBRARY})
  else()
    target_compile_definitions(kiln_fmt INTERFACE FMT_HEADER_ONLY)
  endif()
  kiln_find_library(kiln_stb HEADER stb_image.h SUFFIX stb PACKAGE libstb-dev)
else()  # for kiln::signed and the tests that write packs; the others do without
  kiln_find_library(kiln_sodium HEADER sodium.h LIBRARY sodium PACKAGE libsodium-dev OPTIONAL)
endif()
if(WIN32 AND TARGET kiln_sodium)
  target_compile_definitions(kiln_sodium INTERFACE SODIUM_STATIC)
endif()
