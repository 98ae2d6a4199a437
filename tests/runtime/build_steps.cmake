# SPDX-License-Identifier: Apache-2.0
# For test scripts that build. A script of CMake before 3.29 cannot choose its exit code: skip(reason)
# leaves the reason in the file SKIP_FILE, which tests/support/cmake_test.sh turns into the code 77;
# return() after it.
function(skip reason)
  file(WRITE ${SKIP_FILE} "SKIP: ${reason}\n")
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
