# SPDX-License-Identifier: Apache-2.0
# kiln_warnings(TARGET): the project's warnings, for its own targets only.
function(kiln_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # false alarms in std::string
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^13")
    # The same in the big numbers of fmt 9.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
  if(KILN_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# kiln_no_exceptions(TARGET): what links into applications has neither exceptions nor RTTI,
# and can be cut down to what is used.
function(kiln_no_exceptions target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti> -fvisibility=hidden
    -ffunction-sections -fdata-sections)
endfunction()

# kiln_small_code(TARGET FAST files...): small before fast, for the code that applications ship, but
# for the files that a start runs through. GCC's IPA-SRA gives each object copies of its own of the
# standard library's functions, all of which a linker keeps: in static libraries.
function(kiln_small_code target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FAST")
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-Os>)
  if(NOT KILN_QUICK_BUILD AND NOT KILN_SANITIZE)  # those are compiled as one
    set_property(SOURCE ${arg_FAST} APPEND PROPERTY
      COMPILE_OPTIONS $<$<CONFIG:Release,RelWithDebInfo>:-O2>)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fno-ipa-sra)
  endif()
endfunction()

# kiln_quick_compilation(TARGET): for code that parses and prints. CLI11 takes GCC
# twice as long at -O3, and nothing there is worth it. For Windows -O0 gives so many sections that ar
# and ld take minutes.
function(kiln_quick_compilation target)
  set(level -O1)
  if(KILN_QUICK_BUILD AND NOT WIN32)
    set(level -O0)
  endif()
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:Release,RelWithDebInfo>:${level}> -ffunction-sections)
endfunction()

# kiln_unity_build(TARGET SEPARATE files... TOGETHER "folder..."...): with KILN_UNITY_BUILD, the
# sources of each folder are compiled as one, or those of some folders TOGETHER, which halves the time
# and more: most of it is spent on headers. SEPARATE are files that declare what another one declares.
# Not for what applications link: a linker takes whole objects.
function(kiln_unity_build target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SEPARATE;TOGETHER")
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${KILN_UNITY_BUILD} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT source IN_LIST arg_SEPARATE)
      get_filename_component(folder ${source} DIRECTORY)
      if(IS_ABSOLUTE "${folder}")  # no path of the machine in the order of objects
        file(RELATIVE_PATH folder ${CMAKE_CURRENT_SOURCE_DIR} ${folder})
      endif()
      foreach(folders IN LISTS arg_TOGETHER)
        separate_arguments(names UNIX_COMMAND "${folders}")
        if(folder IN_LIST names)
          set(folder ${folders})
        endif()
      endforeach()
      string(MAKE_C_IDENTIFIER "all_${folder}" group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

# kiln_unity_build_for_tests(TARGET): the same for what applications link, where only tests do.
function(kiln_unity_build_for_tests target)
  if(KILN_UNITY_BUILD AND (KILN_QUICK_BUILD OR KILN_SANITIZE))
    kiln_unity_build(${target} ${ARGN})
  endif()
endfunction()

# kiln_link_portably(TARGET): with KILN_STATIC_DEPENDENCIES an executable needs nothing of
# a machine but the C library, so that it can be copied to the devices of a fleet. It has only the
# functions that it calls.
function(kiln_link_portably target)
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
  if(KILN_STATIC_DEPENDENCIES AND NOT KILN_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
