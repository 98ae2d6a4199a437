# SPDX-License-Identifier: Apache-2.0
# kiln_catch_test(NAME LABEL label SOURCES files... [SEPARATE files...] [TOGETHER "folder..."...]
#   LIBRARIES targets...)
# One executable of Catch2 tests and one ctest entry, skipped by exit code 77 (tests/support/catch.hpp).
# SEPARATE are sources too; for these and for TOGETHER, which counts in unity builds alone, see
# kiln_unity_build. Catch2 2 and 3 both serve.
find_path(KILN_CATCH3_INCLUDE_DIR catch2/catch_all.hpp)
find_path(KILN_CATCH2_INCLUDE_DIR catch2/catch.hpp)
if(KILN_CATCH3_INCLUDE_DIR)
  find_package(Catch2 3 REQUIRED)
elseif(NOT KILN_CATCH2_INCLUDE_DIR)
  message(FATAL_ERROR "Kiln's tests need Catch2: install catch2, or set KILN_BUILD_TESTS=OFF")
endif()

# Compiled once: with Catch2 2 the main takes longer than most tests.
add_library(kiln_catch_main STATIC ${PROJECT_SOURCE_DIR}/tests/support/catch_main.cpp)
target_compile_features(kiln_catch_main PUBLIC cxx_std_20)
if(NOT WIN32)  # there each link reads 24,000 sections of -O0, and takes half a minute
  target_compile_options(kiln_catch_main PRIVATE $<$<CONFIG:Release>:-O0>)  # half a minute else
endif()
if(KILN_SANITIZE)  # Catch2 itself need not be checked: with its checks GCC takes three times as long
  target_compile_options(kiln_catch_main PRIVATE -O0 -fno-sanitize=all)
endif()
target_include_directories(kiln_catch_main PRIVATE ${PROJECT_SOURCE_DIR})
if(KILN_CATCH3_INCLUDE_DIR)
  target_link_libraries(kiln_catch_main PUBLIC Catch2::Catch2)
else()
  target_include_directories(kiln_catch_main SYSTEM PUBLIC ${KILN_CATCH2_INCLUDE_DIR})
endif()

# kiln_test_path(TARGET SYMBOL FILE): the path of a built file as the constant SYMBOL, in a source of
# its own: the other sources are the same in every build folder, and a compiler cache has them.
function(kiln_test_path target symbol file)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_${symbol}.c)
  file(GENERATE OUTPUT ${source}
    CONTENT "extern const char ${symbol}[];\nconst char ${symbol}[] = \"${file}\";\n")
  target_sources(${target} PRIVATE ${source})
endfunction()

function(kiln_catch_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "SOURCES;SEPARATE;TOGETHER;LIBRARIES")
  if(NOT KILN_UNITY_BUILD)  # a developer compiles a folder after an edit, and no more
    set(arg_TOGETHER)
  endif()
  add_executable(${name} ${arg_SOURCES} ${arg_SEPARATE})
  kiln_unity_build(${name} SEPARATE ${arg_SEPARATE} TOGETHER ${arg_TOGETHER})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON)  # Catch2's header is read once a folder
  target_link_libraries(${name} PRIVATE kiln_catch_main ${arg_LIBRARIES})
  target_compile_definitions(${name} PRIVATE KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  kiln_warnings(${name})
  set(cases)
  if(WIN32)
    set(cases ~[fork])  # where no process is forked
  endif()
  add_test(NAME ${name} COMMAND ${name} ${cases})
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} SKIP_RETURN_CODE 77)
  if(arg_LABEL STREQUAL "lab")
    kiln_leave_to(lab_programs ${name})
  endif()
endfunction()
