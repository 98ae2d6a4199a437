# SPDX-License-Identifier: Apache-2.0
# Installs Kiln and builds tests/consumer/project with it in the four ways in which an
# application can get it; each must open the pack.
#   cmake -DKILN_SOURCE=... -DKILN_BUILD=... -DWORK=... [-DLAUNCHER=ccache] [-DBUILD_TYPE=...]
#         [-DSTRICT=ON] [-DPORTABLE=ON] [-DUNITY=ON] -P consumer_test.cmake
# Kiln is built in KILN_BUILD already, with BUILD_TYPE, STRICT, PORTABLE and UNITY as there. WORK is
# emptied first.
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
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/packs -B ${build} -G ${generator}
    -DCMAKE_PREFIX_PATH=${prefix} -DKERNELS=${kernels} -DDEVICES=${devices})
  run(${CMAKE_COMMAND} --build ${build})
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
check_packs("Ninja")
check_packs("Unix Makefiles")

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

# Without optimisation, which takes the longest of it and changes nothing that is looked at.
consume(add_subdirectory -DKILN_SOURCE=${KILN_SOURCE} -DKILN_WARNINGS_AS_ERRORS=${STRICT}
  -DKILN_STATIC_DEPENDENCIES=${PORTABLE} -DCMAKE_BUILD_TYPE=Debug
  -DKILN_UNITY_BUILD=${UNITY} -DKILN_QUICK_BUILD=ON)
if(EXISTS ${WORK}/add_subdirectory/kiln/tests)
  message(FATAL_ERROR "Kiln's tests are a part of another project")
endif()

# With the options that Kiln has by default, and so each source compiled alone. Without kiln, whose
# sources the preset dev compiles so: the pack is the one from above.
consume(FetchContent -DKILN_SOURCE=${KILN_SOURCE} -DKILN_PACK=${pack_file}
  -DCMAKE_BUILD_TYPE=Debug)
