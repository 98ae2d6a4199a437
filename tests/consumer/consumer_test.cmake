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
