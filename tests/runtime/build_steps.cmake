# SPDX-License-Identifier: Apache-2.0
# For test scripts that build. A script of CMake before 3.29 cannot choose its exit code: skip(reason)
# leaves the reason in the file SKIP_FILE, which tests/support/cmake_test.sh turns into the code 77;
# return() after it.
function(skip reason)
  file(WRITE ${SKIP_FILE} "SKIP: ${reason}\n")
endfunction()

# need("VARIABLE=WHAT"...) skips and returns where the path in one of these variables is not there.
macro(need)
  foreach(part ${ARGN})
    string(REGEX MATCH "^([a-z]+)=(.*)$" part ${part})
    if(NOT EXISTS "${${CMAKE_MATCH_1}}")
      skip("${CMAKE_MATCH_2} is not here")
      return()
    endif()
  endforeach()
endmacro()

# find_root(VARIABLE SUITE) sets `root` and the environment's VARIABLE to a Debian's folder, which
# VARIABLE names, or to that of the laboratory's SUITE.
function(find_root variable suite)
  set(root $ENV{${variable}})
  if(NOT root)
    execute_process(COMMAND ${KILN_LAB} path ${suite} OUTPUT_VARIABLE root
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(ENV{${variable}} ${root})
  set(root ${root} PARENT_SCOPE)
endfunction()

# run(COMMAND...) ends the script where the command fails, with
# what it printed.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}\nfailed: ${result}")
  endif()
endfunction()
