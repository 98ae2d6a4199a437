# SPDX-License-Identifier: Apache-2.0
# kiln_host_tool(CALLER)
#
# Makes kiln::host, the program kiln that runs on this machine, unless it is there. It is kiln::kiln,
# except where the project is compiled for another machine: then it is the program that
# KILN_HOST_TOOL names, else one in PATH, else one that is built for this machine, from the sources
# that Kiln itself comes from, in a build folder of its own. Fails with a message that begins with
# CALLER, also if clang or llvm-spirv are missing.
set(KILN_HOST_TOOL "" CACHE FILEPATH "The program kiln, if the project is compiled for another machine")
set(kiln_host_source "")  # Kiln's sources; empty where Kiln is installed
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../builder/CMakeLists.txt)
  get_filename_component(kiln_host_source ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
endif()
set_property(GLOBAL PROPERTY KILN_HOST_SOURCE "${kiln_host_source}")

# Builds kiln for this machine when a pack needs it. CC and CXX may name the other machine's compilers.
function(kiln_build_host_tool source)
  include(ExternalProject)
  set(folder ${CMAKE_BINARY_DIR}/kiln_host)
  set(program ${folder}/bin/kiln)
  ExternalProject_Add(kiln_host_build
    SOURCE_DIR ${source}
    BINARY_DIR ${folder}
    PREFIX ${folder}/steps
    CONFIGURE_COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX --unset=CFLAGS
      --unset=CXXFLAGS --unset=LDFLAGS --unset=CMAKE_TOOLCHAIN_FILE
      ${CMAKE_COMMAND} -S ${source} -B ${folder} -G ${CMAKE_GENERATOR}
      -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}
      -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
      -DKILN_BUILD_TESTS=OFF -DKILN_INSTALL=OFF -DKILN_UNITY_BUILD=ON
    BUILD_COMMAND ${CMAKE_COMMAND} --build ${folder} --target kiln
    BUILD_ALWAYS ON
    BUILD_BYPRODUCTS ${program}
    INSTALL_COMMAND ""
    EXCLUDE_FROM_ALL ON)
  add_executable(kiln::host IMPORTED GLOBAL)
  set_target_properties(kiln::host PROPERTIES IMPORTED_LOCATION ${program})
  add_dependencies(kiln::host kiln_host_build)
endfunction()

# Fails unless the program runs here and finds the compilers that it needs.
function(kiln_check_host_tool caller program)
  if(KILN_HOST_TOOL_CHECKED STREQUAL program)
    return()
  endif()
  set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/kiln_host_tool)
  file(WRITE ${folder}/probe.cl "kernel void probe(global int *value) { value[0] = 1; }\n")
  execute_process(COMMAND ${program} compile ${folder}/probe.cl -o ${folder}/probe.kiln
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE text)
  if(NOT result EQUAL 0)
    string(STRIP "${text}" text)
    message(FATAL_ERROR "${caller}: ${program} cannot compile kernels (${result}):\n${text}")
  endif()
  set(KILN_HOST_TOOL_CHECKED ${program} CACHE INTERNAL "The program kiln that compiled a kernel")
endfunction()

function(kiln_host_tool caller)
  if(TARGET kiln::host)
    return()
  endif()
  get_property(source GLOBAL PROPERTY KILN_HOST_SOURCE)
  if(NOT CMAKE_CROSSCOMPILING AND NOT KILN_HOST_TOOL)
    if(NOT TARGET kiln::kiln)
      message(FATAL_ERROR "${caller}: the program kiln is missing: install the Debian package kiln, "
        "or build Kiln with KILN_BUILD_BUILDER=ON")
    endif()
    get_target_property(built kiln::kiln ALIASED_TARGET)
    if(built)
      add_executable(kiln::host ALIAS ${built})
    else()
      add_executable(kiln::host ALIAS kiln::kiln)
      get_target_property(program kiln::kiln LOCATION)
      kiln_check_host_tool("${caller}" ${program})
    endif()
    return()
  endif()
  if(NOT KILN_HOST_TOOL)
    find_program(KILN_HOST_TOOL_FOUND kiln NO_CMAKE_FIND_ROOT_PATH
      DOC "The program kiln in PATH, if KILN_HOST_TOOL names none")
    set(KILN_HOST_TOOL ${KILN_HOST_TOOL_FOUND})
  endif()
  if(KILN_HOST_TOOL)
    kiln_check_host_tool("${caller}" ${KILN_HOST_TOOL})
    add_executable(kiln::host IMPORTED GLOBAL)
    set_target_properties(kiln::host PROPERTIES IMPORTED_LOCATION ${KILN_HOST_TOOL})
  elseif(source)
    kiln_build_host_tool(${source})
  else()
    message(FATAL_ERROR "${caller}: the project is compiled for another machine, and no kiln that "
      "runs here is in PATH: install the Debian package kiln, or set KILN_HOST_TOOL")
  endif()
endfunction()
