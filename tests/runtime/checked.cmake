# SPDX-License-Identifier: Apache-2.0
# Runs the C interface and threads that load and launch, and WHOLE the tests of the ladder, the source
# reader and the layer, under a checker, on the host's PoCL; any finding fails. Frames of drivers
# alone are forgiven, in tests/support/suppressions.
#   cmake -DCHECKER=thread|address -DKILN_SOURCE=... -DWORK=... -DKILN=... -DPYTHON=...
#         [-DLAUNCHER=ccache] [-DWHOLE=ON] -P checked.cmake
#     builds them with that sanitizer in WORK/build first; KILN makes the packs that the layer serves
#   cmake -DCHECKER=valgrind -DPROGRAMS=folder -DKILN_SOURCE=... -DWORK=... -P checked.cmake
#     takes them as they lie in PROGRAMS; is skipped where there is no valgrind
include(${CMAKE_CURRENT_LIST_DIR}/build_steps.cmake)
set(suppressions ${KILN_SOURCE}/tests/support/suppressions)
set(pack ${KILN_SOURCE}/tests/runtime/runtime.kiln)
set(threads 6)
set(rounds 12)

if(CHECKER STREQUAL "valgrind")
  find_program(valgrind valgrind)
  if(NOT valgrind)
    skip("valgrind is not here")
    return()
  endif()
  # PoCL leaves its threads' stacks and LLVM its tables to the end of the process: reachable.
  set(prefix ${valgrind} --quiet --error-exitcode=9 --fair-sched=yes --leak-check=full
    --show-leak-kinds=definite --errors-for-leak-kinds=definite --num-callers=40
    --suppressions=${suppressions}/valgrind.supp)
  # LLVM's own work is not looked at: PoCL's cache is filled first, without the check and for the
  # processor that valgrind shows.
  set(prepare ${valgrind} --quiet --tool=none --fair-sched=yes)
  set(rounds 2)  # a launch here takes fifty times as long
  set(quick "~*survives a kill*")  # hundreds of processes
else()
  set(PROGRAMS ${WORK}/build/bin)
  run(${CMAKE_COMMAND} -S ${KILN_SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_CXX_FLAGS_DEBUG=-g1 -DKILN_SANITIZE=${CHECKER} -DKILN_BUILD_BUILDER=OFF
    -DKILN_BUILD_TESTS=ON -DKILN_UNITY_BUILD=ON -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
  set(more)
  if(WHOLE)
    set(more ladder_test source_test kiln_layer kiln_layer_application)
  endif()
  run(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2
    --target c_api_test_runtime c_api_misuse_test stress_test ${more})
  set(ENV{TSAN_OPTIONS} halt_on_error=1)
  # LLVM puts its own signal stack on the thread that first loads a driver; the sanitizer would
  # unmap it as its own when that thread ends. The thread-local memory of PoCL's and LLVM's threads
  # is not followed: the search for leaks dies of it where LLVM has compiled.
  set(ENV{ASAN_OPTIONS} detect_leaks=1:use_sigaltstack=0:intercept_tls_get_addr=0)
  set(ENV{LSAN_OPTIONS} suppressions=${suppressions}/lsan.supp:print_suppressions=0)
  set(ENV{UBSAN_OPTIONS} print_stacktrace=1)
endif()

# No other driver: Intel's cannot be loaded under the address sanitizer (RTLD_DEEPBIND).
file(WRITE ${WORK}/icd/pocl.icd "libpocl.so.2\n")
file(MAKE_DIRECTORY ${WORK}/pocl_cache)
set(ENV{OCL_ICD_VENDORS} ${WORK}/icd)
set(ENV{POCL_CACHE_DIR} ${WORK}/pocl_cache)
set(ENV{POCL_MAX_PTHREAD_COUNT} 2)

run(${prefix} ${PROGRAMS}/c_api_test_runtime ${pack})
if(prepare)
  run(${prepare} ${PROGRAMS}/c_api_misuse_test ${pack})
  run(${prepare} ${PROGRAMS}/stress_test ${pack} ${threads} 1)
endif()
run(${prefix} ${PROGRAMS}/c_api_misuse_test ${pack})
if(WHOLE)  # with Catch2 it takes longer to compile than everything else
  run(${prefix} ${PROGRAMS}/ladder_test ${quick})
endif()
run(${prefix} ${PROGRAMS}/stress_test ${pack} ${threads} ${rounds})
# Under valgrind the layer's application would compile some hundred programs.
if(CHECKER STREQUAL "valgrind" OR NOT WHOLE)
  return()
endif()

run(${PROGRAMS}/source_test)
# Everything that the application can do, on eight threads too, while the layer records it, serves it
# from a pack, and fills an overlay and serves from that; for the address sanitizer also from damaged
# packs and overlays.
if(CHECKER STREQUAL "address")
  set(damaged Serving.test_an_overlay_serves_what_it_kept
    BadPacks.test_a_pack_with_damaged_bytes_serves_what_is_whole)
endif()
run(${PYTHON} -B ${KILN_SOURCE}/tests/layer/layer_test.py ${KILN} ${PROGRAMS}/libkiln_layer.so
  ${PROGRAMS}/kiln_layer_application
  Recording.test_the_output_is_the_same
  Serving.test_the_output_is_the_same_with_the_built_pack
  Serving.test_an_overlay_alone_keeps_what_the_driver_builds
  Serving.test_processes_report_whole_lines_into_one_file
  ${damaged})
