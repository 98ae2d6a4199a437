# SPDX-License-Identifier: Apache-2.0
# Kiln for Windows by MinGW: the runtime's quick tests under Wine, an embedded pack, starts of an
# application with the host's PoCL, which Wine's opencl.dll reaches, the layer, and kiln.exe. Skipped,
# with the reason, where a part is missing.
#   cmake -DKILN_SOURCE=... -DKILN_LAB=lab.py -DKILN=kiln -DDRIVER=libkiln_test_driver.so -DWORK=...
#         [-DLAUNCHER=ccache] -P windows_runtime.cmake
include(${CMAKE_CURRENT_LIST_DIR}/build_steps.cmake)
find_program(cxx x86_64-w64-mingw32-g++-posix)
find_program(wine NAMES wine64 wine PATHS /usr/lib/wine)
find_program(clang NAMES clang-15 clang)
find_program(linker NAMES lld-link-15 lld-link)
find_path(headers _mingw.h PATHS /usr/share/mingw-w64/include)
find_root(KILN_MINGW_ROOT mingw/dev)
need("cxx=g++-mingw-w64-x86-64-posix" "wine=wine64" "clang=clang-15" "linker=lld-15"
  "headers=mingw-w64-common" "root=the laboratory's mingw root")

# A Windows of its own.
set(ENV{WINEPREFIX} ${WORK}/wine)
set(ENV{LC_ALL} C.UTF-8)  # in which Wine writes the names of files
set(wine ${KILN_SOURCE}/cmake/toolchains/wine.sh ${wine})
file(MAKE_DIRECTORY ${WORK})
run(${wine} wineboot -i)
set(TOOLCHAIN ${KILN_SOURCE}/cmake/toolchains/mingw.cmake)
set(BUILDER ON)
include(${CMAKE_CURRENT_LIST_DIR}/runtime_alone.cmake)

# C programs of MSVC's ABI: the tests of the C interface by Clang, with MinGW's headers and C library,
# against the DLL. For AArch64 there is no library, so they are only compiled.
set(msvc ${WORK}/msvc)
file(MAKE_DIRECTORY ${msvc}/include)
file(CREATE_LINK /usr/include/CL ${msvc}/include/CL SYMBOLIC)
set(libraries)
foreach(name libmingwex.a libmsvcrt.a libkernel32.a libgcc.a)
  execute_process(COMMAND ${cxx} -print-file-name=${name} OUTPUT_VARIABLE path
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND libraries ${path})
endforeach()
foreach(test c_api_test c_launch_test)
  foreach(machine aarch64 x86_64)
    set(objects)
    foreach(source api/${test} windows/msvc_start)
      get_filename_component(name ${source} NAME)
      run(${clang} --target=${machine}-pc-windows-msvc -fgnuc-version=4.2.1 -mno-stack-arg-probe -O1
        -I ${KILN_SOURCE}/runtime/include -I ${KILN_SOURCE} -isystem ${msvc}/include
        -isystem ${headers} -c ${KILN_SOURCE}/tests/runtime/${source}.c -o ${msvc}/${name}.obj)
      list(APPEND objects ${msvc}/${name}.obj)
    endforeach()
  endforeach()
  run(${linker} /entry:start /subsystem:console /nodefaultlib /out:${WORK}/bin/${test}_msvc.exe
    ${objects} ${WORK}/runtime/libkiln_runtime.dll.a ${libraries})
  run(${wine} ${WORK}/bin/${test}_msvc.exe ${KILN_SOURCE}/tests/runtime/runtime.kiln)
endforeach()

# Starts with packs that were made here. expect(PROGRAM CODE WORDS ARGUMENTS...)
file(WRITE ${WORK}/icd/pocl.icd "libpocl.so.2\n")
set(ENV{OCL_ICD_VENDORS} ${WORK}/icd)
set(ENV{POCL_CACHE_DIR} ${WORK}/pocl_cache)
set(base ${KILN_SOURCE}/tests/runtime/runtime.kiln)
execute_process(COMMAND ${KILN} devices OUTPUT_VARIABLE devices ERROR_QUIET)
if(NOT devices MATCHES "Portable Computing Language")
  skip("no PoCL is here: no kernel was launched under Wine")
  return()
endif()
run(${KILN} build ${base} --device "Portable*" -o ${WORK}/pocl.kiln)

# Somebody else's project, whose pack the host's kiln makes; Kiln is installed.
set(cross ${WORK}/cross)
run(${CMAKE_COMMAND} --install ${WORK} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${KILN_SOURCE}/tests/consumer/cross -B ${cross} -G Ninja
  --toolchain ${TOOLCHAIN} -DCMAKE_BUILD_TYPE=Debug -Dkiln_DIR=${WORK}/prefix/lib/cmake/kiln
  -DKILN_HOST_TOOL=${KILN} -DKERNELS=${KILN_SOURCE}/tests/consumer
  -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
run(${CMAKE_COMMAND} --build ${cross} --parallel 2)
run(${CMAKE_CTEST_COMMAND} --test-dir ${cross} --output-on-failure)

function(expect program code words)
  execute_process(COMMAND ${wine} ${WORK}/bin/${program}.exe ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT result MATCHES "^(${code})$" OR NOT text MATCHES "${words}")
    message(FATAL_ERROR
      "${program} ${ARGN}: ${result}, and not ${code} with \"${words}\":\n${text}")
  endif()
  set(text ${text} PARENT_SCOPE)
endfunction()
set(right "1000 of 1000 are right")
expect(start 0 "\"rung\": \"exact\".*${right}" ${WORK}/pocl.kiln)
# Wine passes no function that takes SPIR-V.
set(compiled "\"rung\": \"source\".*the device takes no SPIR-V.*${right}.*was stored in the overlay")
file(REMOVE_RECURSE ${WORK}/overlay)
expect(start 0 "${compiled}" ${base} ${WORK}/overlay)
expect(start 0 "\"rung\": \"overlay\".*${right}" ${base} ${WORK}/overlay)
file(REMOVE_RECURSE ${WORK}/overlay)
expect(start 9 "" ${base} ${WORK}/overlay dies)
expect(start 0 "an earlier process ended inside the driver.*${compiled}" ${base} ${WORK}/overlay)
# Ended at any time; docs/use/windows.md tells of 1,000. With a binary each start that may end does so
# well. Where PoCL compiles, a start may fail on what an ended one left of PoCL's, or skip the source,
# the last form that there is, for at most 64 starts (runtime/overlay/quarantine.hpp).
file(REMOVE_RECURSE ${WORK}/overlay)
set(start ${WORK}/bin/start.exe)
expect(kill_starts 0 "starts: [1-9]" 1000 6 "${start} ${WORK}/pocl.kiln ${WORK}/overlay")
expect(kill_starts "0|1" "starts: [1-9]" 1000 4 "${start} ${base} ${WORK}/overlay")
foreach(number RANGE 64)
  execute_process(COMMAND ${wine} ${start} ${base} ${WORK}/overlay
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(result EQUAL 0)
    break()
  endif()
endforeach()
expect(start 0 "${right}" ${base} ${WORK}/overlay)

# The layer, by a variable and by the registry: an application that knows nothing of Kiln is recorded,
# served the binary that was built here, and refused where there is none.
set(layer Z:${WORK}/bin/libkiln_layer.dll)
set(spool ${WORK}/spöol)
set(reports ${WORK}/reports)
file(REMOVE_RECURSE ${spool} ${reports})
set(key HKLM\\SOFTWARE\\Khronos\\OpenCL\\Layers)
execute_process(COMMAND ${wine} reg delete ${key} /f OUTPUT_QUIET)  # an earlier run's
expect(kiln_layer_application 0 "^atexit.result: [0-9]+\n" atexit)
set(bare "^${text}$")
set(ENV{KILN_LAYER} record)
set(ENV{KILN_SPOOL} ${spool})
set(ENV{OPENCL_LAYERS} ${layer})
expect(kiln_layer_application 0 ${bare} atexit)
unset(ENV{OPENCL_LAYERS})
unset(ENV{KILN_LAYER})
run(${KILN} compile ${spool} -o ${WORK}/layer_base.kiln)
run(${KILN} build ${WORK}/layer_base.kiln --device "Portable*" -o ${WORK}/layer.kiln)
run(${wine} reg add ${key} /f /v ${layer} /t REG_DWORD /d 0)
set(ENV{KILN_REQUIRE} exact)
set(ENV{KILN_PACK} ${WORK}/layer_base.kiln)
expect(kiln_layer_application 0 "refused cl-.*atexit.clBuildProgram: -11" atexit)
set(ENV{OPENCL_LAYERS} ${layer})  # both: it is taken once
set(ENV{KILN_PACK} "Z:${WORK}/layer_base.kiln;Z:${WORK}/layer.kiln")
set(ENV{KILN_REPORT_DIR} ${reports})
expect(kiln_layer_application 0 ${bare} atexit)
file(GLOB report ${reports}/*.jsonl)
file(READ ${report} text)
if(NOT text MATCHES "\"application\": \"kiln_layer_application.exe\".*\"rung\": \"exact\"")
  message(FATAL_ERROR "the layer reports:\n${text}")
endif()

# kiln.exe prints what kiln does.
unset(ENV{KILN_REQUIRE})
unset(ENV{KILN_PACK})
unset(ENV{KILN_REPORT_DIR})
unset(ENV{OPENCL_LAYERS})
set(exe ${wine} ${WORK}/bin/kiln.exe)
run(${KILN} compile ${KILN_SOURCE}/manifests/tour.toml -o ${WORK}/tour_base.kiln)
run(${KILN} build ${WORK}/tour_base.kiln --device "Portable*" -o ${WORK}/tour.kiln)
file(REMOVE_RECURSE ${WORK}/windows ${WORK}/linux)
file(MAKE_DIRECTORY ${WORK}/windows ${WORK}/linux)
function(alike code)
  foreach(system windows linux)
    set(kiln ${KILN})
    if(system STREQUAL "windows")
      set(kiln ${exe})
    endif()
    execute_process(COMMAND ${kiln} ${ARGN} WORKING_DIRECTORY ${WORK}/${system}
      RESULT_VARIABLE result OUTPUT_VARIABLE text_${system} ERROR_VARIABLE text_${system})
    if(NOT result EQUAL code)
      message(FATAL_ERROR "kiln ${ARGN} on ${system}: ${result}, and not ${code}:\n${text_${system}}")
    endif()
  endforeach()
  if(NOT text_windows STREQUAL text_linux)
    message(FATAL_ERROR
      "kiln ${ARGN} on Windows:\n${text_windows}\nand on Linux:\n${text_linux}")
  endif()
endfunction()
set(pack ${WORK}/tour.kiln)
alike(0 pack inspect ${pack})
alike(0 pack inspect --bytes --json ${pack})
alike(0 pack verify ${pack})
alike(0 explain --pack ${pack})
alike(4 pack verify ${CMAKE_CURRENT_LIST_FILE})
alike(4 pack inspect absent.kiln)
alike(2 run epsilom --pack ${pack} --size 64x64)
# And computes it: by its own library of references.
foreach(system windows linux)
  set(kiln ${KILN})
  if(system STREQUAL "windows")
    set(kiln ${exe})
  endif()
  execute_process(COMMAND ${kiln} run epsilon --pack ${pack}
      --image ${KILN_SOURCE}/tests/data/raccoon.png -o "bïld.png"
    WORKING_DIRECTORY ${WORK}/${system} RESULT_VARIABLE result
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT result EQUAL 0 OR NOT text MATCHES "exact.*equals the reference byte for byte")
    message(FATAL_ERROR "kiln run on ${system}: ${result}\n${text}")
  endif()
  file(SHA256 "${WORK}/${system}/bïld.png" picture_${system})
endforeach()
if(NOT picture_windows STREQUAL picture_linux)
  message(FATAL_ERROR "kiln run writes another picture on Windows")
endif()
# What crashes in kiln.exe is told: a library of references, since Wine turns a driver's crash into an
# error code.
file(WRITE ${WORK}/crash/crash.cpp [=[
#include <kiln/reference.h>
KILN_REFERENCE_DEFINE_VERSION
KILN_REFERENCE_EXPORT int32_t epsilon(const kiln_reference_call *) {
  return *static_cast<volatile int *>(nullptr);
}
]=])
run(${cxx} -shared -static -I${KILN_SOURCE}/kernels/include ${WORK}/crash/crash.cpp
  -o ${WORK}/crash/libkiln_case_references.dll)
expect(kiln 1 "crashed with exception 0xc0000005" run epsilon --pack ${pack} --size 64x64
  --references ${WORK}/crash)
# A driver that gives no answer.
file(WRITE ${WORK}/hang/hang.icd "${DRIVER}\n")
file(WRITE ${WORK}/hang/script.toml [=[
[[platform]]
name = "Scripted"
[[platform.device]]
name = "Scripted"
forward = true
[[fault]]
at = "clBuildProgram"
do = "hang"
]=])
set(ENV{OCL_ICD_VENDORS} ${WORK}/hang)
set(ENV{KILN_TEST_DRIVER} ${WORK}/hang/script.toml)
expect(kiln 1 "gave no answer in time" explain epsilon --timeout 2 --pack ${WORK}/tour_base.kiln)
