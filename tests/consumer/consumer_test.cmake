# SPDX-License-Identifier: Apache-2.0
# Installs Kiln and builds tests/consumer/project with it in the four ways in which an
# application can get it; each must open the pack. Then for AArch64, where its compiler is.
#   cmake -DKILN_SOURCE=... -DKILN_BUILD=... -DWORK=... [-DLAUNCHER=ccache] [-DBUILD_TYPE=...]
#         [-DSTRICT=ON] [-DPORTABLE=ON] [-DSHORT=ON] [-DWHOLE=ON] -P consumer_test.cmake
# Kiln is built in KILN_BUILD already, with BUILD_TYPE, STRICT and PORTABLE as there. WORK is emptied
# first. SHORT: by find_package alone. WHOLE: the project builds all of Kiln, too, some 400 s of a processor.
include(${CMAKE_CURRENT_LIST_DIR}/../runtime/build_steps.cmake)
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)

run(${CMAKE_COMMAND} --install ${KILN_BUILD} --prefix ${prefix})
file(GLOB_RECURSE pkgconfig_file ${prefix}/*/kiln.pc)
get_filename_component(pkgconfig_dir ${pkgconfig_file} DIRECTORY)

file(GLOB_RECURSE module ${prefix}/*/kiln/pyopencl.py)
get_filename_component(package ${module} DIRECTORY)
get_filename_component(python_path ${package} DIRECTORY)
find_program(python python3)
if(python)
  run(${CMAKE_COMMAND} -E env PYTHONPATH=${python_path} KILN_LIBRARY= ${python} -B
    ${CMAKE_CURRENT_LIST_DIR}/use_module.py)
endif()

function(consume how)
  message(STATUS "consumer: ${how}")
  set(build ${WORK}/${how})
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${build} -G Ninja
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_FLAGS_DEBUG= -DKILN_HOW=${how}
    -DKERNELS=${WORK}/kernels
    -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} ${ARGN})
  run(${CMAKE_COMMAND} --build ${build} --parallel 2)
  run(${CMAKE_CTEST_COMMAND} --test-dir ${build} --output-on-failure)
endfunction()

file(COPY ${CMAKE_CURRENT_LIST_DIR}/add_one.cl ${CMAKE_CURRENT_LIST_DIR}/add_one.toml
  DESTINATION ${WORK}/kernels)
consume(find_package -DCMAKE_PREFIX_PATH=${prefix})

# A program that only loads has no symbol of kiln::launch, static or shared, and needs no such library.
set(of_launch
  "kiln_sequence_[a-z]+|kiln_[a-z]+_(from_buffer|from_dma_buf|[a-z]+_external)|libkiln_launch")
find_program(nm nm REQUIRED)
find_program(readelf readelf REQUIRED)
foreach(program use_c use_cxx use_launch use_launch_shared)
  execute_process(COMMAND ${nm} -C ${WORK}/find_package/${program} OUTPUT_VARIABLE symbols
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${readelf} -d ${WORK}/find_package/${program} OUTPUT_VARIABLE libraries
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "${of_launch}" found "${symbols}${libraries}")
  if(program MATCHES "launch" AND NOT found)
    message(FATAL_ERROR "${program} links nothing of kiln::launch")
  elseif(found AND NOT program MATCHES "launch")
    message(FATAL_ERROR "${program} only loads, and links ${found}")
  endif()
endforeach()

# A kernel that changes is in the executable again.
file(APPEND ${WORK}/kernels/add_one.cl "// changed\n")
set(pack_file ${WORK}/find_package/add_one_pack.kiln)
file(SHA256 ${pack_file} before)
run(${CMAKE_COMMAND} --build ${WORK}/find_package)
file(SHA256 ${pack_file} after)
if(before STREQUAL after)
  message(FATAL_ERROR "the pack was not made again")
endif()
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/find_package --output-on-failure)

# A pack is made again if a file is changed that its source includes, and only then.
set(kernels "${WORK}/its kernels")
function(check_packs generator)
  message(STATUS "consumer: packs by ${generator}")
  set(build "${WORK}/packs by ${generator}")
  file(WRITE ${kernels}/step.h "#define STEP 1\n")
  file(WRITE ${kernels}/add.cl "#include \"step.h\"
kernel void add(global int *values) { values[get_global_id(0)] += STEP; }\n")
  file(WRITE ${kernels}/add.toml "schema = 1\n[program.add]\nsource = \"add.cl\"\n
[program.add.variant.plain]\nkernel = \"add\"\n")
  file(WRITE "${kernels}/more headers/three.h" "#define THREE 3\n")
  file(WRITE ${kernels}/twice.cl "#include <three.h>
kernel void twice(global int *values) { values[0] = TWO * THREE; }\n")
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/packs -B ${build} -G ${generator}
    -DCMAKE_PREFIX_PATH=${prefix} -DKERNELS=${kernels} -DDEVICES=${devices} -DKEY=${key})
  run(${CMAKE_COMMAND} --build ${build})
  execute_process(COMMAND ${kiln} pack inspect ${build}/sources.kiln OUTPUT_VARIABLE text)
  if(NOT text MATCHES "program add\n +default +-cl-std=CL1.2 -DTWO=2\n.*program twice\n")
    message(FATAL_ERROR "${generator}: the sources give another pack: ${text}")
  endif()
  if(key)
    run(${kiln} pack verify ${build}/sources.kiln --key ${key}.pub)
  endif()
  if(devices)
    set(pack ${build}/merged.kiln)
    execute_process(COMMAND ${kiln} pack inspect ${pack} OUTPUT_VARIABLE text)
    if(NOT text MATCHES "add/plain +[0-9]+ bytes")
      message(FATAL_ERROR "${generator}: the pack has no binary: ${text}")
    endif()
  else()
    set(pack ${build}/plain.kiln)
  endif()
  file(TIMESTAMP ${pack} first "%s.%f")
  file(SHA256 ${pack} before)
  run(${CMAKE_COMMAND} --build ${build})
  file(TIMESTAMP ${pack} second "%s.%f")
  if(NOT first STREQUAL second)
    message(FATAL_ERROR "${generator}: nothing changed, and the pack was made again")
  endif()
  file(WRITE ${kernels}/step.h "#error no step\n")
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} RESULT_VARIABLE result
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(result EQUAL 0 OR NOT text MATCHES "step.h:1:2: error: no step")
    message(FATAL_ERROR "${generator}: a broken header does not fail the build: ${text}")
  endif()
  file(WRITE ${kernels}/step.h "#define STEP 2\n")
  run(${CMAKE_COMMAND} --build ${build})
  file(SHA256 ${pack} after)
  if(before STREQUAL after)
    message(FATAL_ERROR "${generator}: a changed header does not make the pack again")
  endif()
  run(${build}/use_stubs)
  # A parameter that has gone is missed where it is used.
  file(WRITE ${kernels}/add.cl "kernel void add(global int *counts) { counts[0] = 1; }\n")
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} RESULT_VARIABLE result
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(result EQUAL 0 OR NOT text MATCHES "KERNELS_ADD_ADD_VALUES")
    message(FATAL_ERROR "${generator}: a changed parameter does not stop the build: ${text}")
  endif()
endfunction()
find_program(kiln kiln PATHS ${prefix}/bin NO_DEFAULT_PATH REQUIRED)
set(devices)
execute_process(COMMAND ${kiln} devices OUTPUT_VARIABLE here ERROR_QUIET)
if(here MATCHES "Portable Computing Language")
  set(devices "Portable*")
endif()
# A key without a password, where minisign is.
set(key)
find_program(minisign minisign)
if(minisign)
  set(key ${WORK}/its.key)
  run(${minisign} -G -W -p ${key}.pub -s ${key})
endif()
check_packs("Ninja")
if(SHORT)
  return()
endif()
check_packs("Unix Makefiles")

# What cannot be is refused before anything is built.
function(refuse message)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/packs -B ${WORK}/wrong
    -DCMAKE_PREFIX_PATH=${prefix} -DKERNELS=${kernels} ${ARGN}
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(result EQUAL 0 OR NOT text MATCHES "${message}")
    message(FATAL_ERROR "refused otherwise than by \"${message}\": ${text}")
  endif()
endfunction()
set(both "MANIFEST\\;a.toml\\;SOURCES\\;a.cl")
refuse("MANIFEST or SOURCES is wanted, and not both" -DWRONG=${both})
refuse("MANIFEST or SOURCES is wanted" "-DWRONG=DEVICES\\;x")
refuse("OPTIONS, INCLUDE_DIRS and PROGRAM are for SOURCES" "-DWRONG=MANIFEST\\;a.toml\\;PROGRAM\\;x")
refuse("unknown arguments PURPOSE" "-DWRONG=SOURCES\\;a.cl\\;PROGRAM\\;x\\;PURPOSE")
refuse("EMBED nowhere: there is no such target" "-DWRONG=SOURCES\\;a.cl\\;EMBED\\;nowhere")
refuse("SYMBOL wrong writes wrong.h, as STUBS of wrong does"
  "-DWRONG=SOURCES\\;${kernels}/twice.cl\\;STUBS\\;wrong.h\\;EMBED\\;use_c")
refuse("use_c has another pack with SYMBOL wrong"
  "-DWRONG=SOURCES\\;${kernels}/twice.cl\\;EMBED\\;use_c" -DTWICE=ON)
file(WRITE ${WORK}/without_clang "#!/bin/sh\nKILN_CLANG=/nowhere exec '${kiln}' \"$@\"\n")
file(CHMOD ${WORK}/without_clang PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
refuse("cannot compile kernels \\(5\\): error: no clang and llvm-spirv"
  -DKILN_HOST_TOOL=${WORK}/without_clang)

# What embeds the pack, as other systems' assemblers take it.
find_program(clang NAMES clang clang-15 clang-18 clang-17 clang-16 clang-14 clang-19)
set(source ${WORK}/find_package/use_embedded_embedded/add_one.c)
foreach(triple aarch64-linux-android24 armv7a-linux-androideabi24 i686-linux-android24
    x86_64-linux-android24 arm64-apple-macos11 x86_64-apple-macos11)
  if(clang)
    run(${clang} --target=${triple} -ffreestanding -std=c99 -Wall -Wextra -Wpedantic -Werror
      -c ${source} -o ${WORK}/embedded-${triple}.o)
  endif()
endforeach()

# kiln.pc must serve a prefix that was only named at installation.
set(ENV{PKG_CONFIG_PATH} ${pkgconfig_dir})
consume(pkg-config -DKILN_PACK=${pack_file})

# Quickly.
set(quick_options -DKILN_SOURCE=${KILN_SOURCE} -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DKILN_QUICK_BUILD=ON -DKILN_WARNINGS_AS_ERRORS=${STRICT})
if(WHOLE)
  consume(add_subdirectory ${quick_options})
  run(${CMAKE_COMMAND} --build ${WORK}/add_subdirectory --parallel 2 --target kiln/all)
else()
  consume(add_subdirectory ${quick_options} -DKILN_HOST_TOOL=${kiln})
endif()
if(EXISTS ${WORK}/add_subdirectory/kiln/tests)
  message(FATAL_ERROR "Kiln's tests are a part of another project")
endif()

# Without kiln: the pack is the one from above. The compiler cache has the objects: from this folder
# relative paths are the same.
consume(FetchContent ${quick_options} -DKILN_PACK=${pack_file}
  -DKILN_STATIC_DEPENDENCIES=${PORTABLE})

# For another machine: the pack comes from a kiln that runs here, and is in the program that runs there.
find_program(cross aarch64-linux-gnu-g++)
execute_process(COMMAND ${KILN_SOURCE}/tests/lab/lab.py path bookworm-arm64/dev
  OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(cross AND IS_DIRECTORY "${root}/usr/include")
  message(STATUS "consumer: for AArch64")
  set(build ${WORK}/aarch64)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/cross -B ${build} -G Ninja
    --toolchain ${KILN_SOURCE}/cmake/toolchains/aarch64-linux-gnu.cmake
    -DCMAKE_BUILD_TYPE=Debug -DKILN_SOURCE=${KILN_SOURCE} -DKILN_QUICK_BUILD=ON
    -DKILN_HOST_TOOL=${kiln} -DKERNELS=${WORK}/kernels
    -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
  run(${CMAKE_COMMAND} --build ${build} --parallel 2)
  run(${CMAKE_CTEST_COMMAND} --test-dir ${build} --output-on-failure)
else()
  message(STATUS "SKIP: no AArch64 compiler, or no laboratory")
endif()
