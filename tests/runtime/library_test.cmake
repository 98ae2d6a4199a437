# SPDX-License-Identifier: Apache-2.0
# What the runtime's libraries look like to an application: without OpenCL, without code that runs
# before main, without exceptions and type information.
#   cmake -DSHARED=libkiln_runtime.so -DSTATIC=libkiln_runtime.a -DPACKS=libkiln_packs.a
#         -DLAUNCH_SHARED=libkiln_launch.so -DLAUNCH=libkiln_launch.a -DVERSION=1.2.3
#         -DNM=nm -DREADELF=readelf -P library_test.cmake

function(output_of variable)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE errors
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${errors}")
  endif()
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

# No line of what a command prints.
function(must_not_have what regex)
  execute_process(COMMAND ${ARGN} COMMAND grep -E -m 20 ${regex} OUTPUT_VARIABLE found
    ERROR_VARIABLE errors RESULTS_VARIABLE results)
  list(GET results -1 code)
  if(code EQUAL 0)
    message(SEND_ERROR "${what}:\n${found}")
  elseif(NOT results STREQUAL "0;1")
    message(FATAL_ERROR "${ARGN}: ${errors}")
  endif()
endfunction()

# Entry points of OpenCL are reached through dlsym alone.
foreach(library ${SHARED} ${STATIC} ${LAUNCH_SHARED} ${LAUNCH})
  must_not_have("${library} links against OpenCL" " cl[A-Z][A-Za-z0-9]+$" ${NM} -u ${library})
  must_not_have("${library} prints" " (printf|puts|fprintf|perror|putchar)(@|$)"
    ${NM} -u ${library})
endforeach()

# The runtime's own code throws nothing and holds no type information.
foreach(library ${STATIC} ${PACKS} ${LAUNCH})
  must_not_have("${library} throws" "__cxa_throw|__cxa_begin_catch|__gxx_personality"
    ${NM} ${library})
  must_not_have("${library} has type information" " [a-zA-Z] typeinfo" ${NM} -C ${library})
  must_not_have("${library} runs code before main" "_GLOBAL__sub_I|__cxa_atexit" ${NM} ${library})
  must_not_have("${library} runs code before main" "\\.(init_array|ctors)"
    ${READELF} -SW ${library})
endforeach()

# The shared library has one entry in .init_array, which is the C runtime's, and on AArch64
# one more of the compiler's library, which asks which atomic instructions there are.
output_of(sections ${READELF} -SW ${SHARED})
output_of(symbols ${NM} ${SHARED})
set(allowed 8)
if(symbols MATCHES "^[0-9a-f]......[0-9a-f] ")  # addresses of 32 bits
  set(allowed 4)
elseif(symbols MATCHES " t init_have_lse_atomics")
  set(allowed 16)
endif()
string(REGEX MATCH "\\.init_array +INIT_ARRAY +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)" found "${sections}")
math(EXPR bytes "0x${CMAKE_MATCH_1}")
if(NOT bytes EQUAL allowed)
  message(SEND_ERROR "${SHARED} has constructors: .init_array holds ${bytes} bytes")
endif()

# The libraries export the C API and nothing else, but for the lock that they share, whose name has
# the version.
string(REPLACE "." "_" lock "kiln_runtime_${VERSION}")
foreach(library ${SHARED} ${LAUNCH_SHARED})
  output_of(exported ${NM} -D --defined-only ${library})
  string(REGEX MATCHALL "[^\n]+" lines "${exported}")
  foreach(line ${lines})
    set(own " T kiln_[a-z_]+$")
    if(library STREQUAL SHARED)
      string(APPEND own "| B ${lock}$")
    endif()
    if(NOT line MATCHES "${own}")
      message(SEND_ERROR "${library} exports what is not the C API: ${line}")
    endif()
  endforeach()
endforeach()

# libkiln_launch takes the runtime's lock, and has no state of its own that should be the process's.
# The empty string of Identity::text() is none.
output_of(undefined ${NM} -D --undefined-only ${LAUNCH_SHARED})
if(NOT undefined MATCHES " U ${lock}\n")
  message(SEND_ERROR "${LAUNCH_SHARED} does not ask for ${lock}:\n${undefined}")
endif()
output_of(symbols ${NM} -C ${LAUNCH_SHARED})
string(REGEX REPLACE "[^\n]*Identity::text[^\n]*\n" "" symbols "${symbols}")
string(REGEX MATCHALL "[^\n]* [bB] [^\n]*kiln[^\n]*" state "${symbols}")
if(state)
  message(SEND_ERROR "${LAUNCH_SHARED} has state of its own:\n${state}")
endif()
