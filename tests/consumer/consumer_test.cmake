# Installs Kiln and builds tests/consumer/project with it in the three ways in which an
# application can get it; each must open the pack that it made.
#   cmake -DKILN_SOURCE=... -DKILN_BUILD=... -DWORK=... [-DLAUNCHER=ccache] [-DBUILD_TYPE=...]
#         [-DSTRICT=ON] [-DPORTABLE=ON] -P consumer_test.cmake
# Kiln is built in KILN_BUILD already, with BUILD_TYPE, STRICT and PORTABLE as there, so that a
# compiler cache can serve add_subdirectory. WORK is emptied first.
include(${CMAKE_CURRENT_LIST_DIR}/../runtime/build_steps.cmake)
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)

run(${CMAKE_COMMAND} --install ${KILN_BUILD} --prefix ${prefix})
file(GLOB_RECURSE pkgconfig_file ${prefix}/*/kiln.pc)
get_filename_component(pkgconfig_dir ${pkgconfig_file} DIRECTORY)

function(consume how)
  message(STATUS "consumer: ${how}")
  set(build ${WORK}/${how})
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${build} -G Ninja
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_FLAGS_DEBUG= -DKILN_HOW=${how}
    -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} ${ARGN})
  run(${CMAKE_COMMAND} --build ${build} --parallel 2)
  run(${CMAKE_CTEST_COMMAND} --test-dir ${build} --output-on-failure)
endfunction()

consume(find_package -DCMAKE_PREFIX_PATH=${prefix})

# kiln.pc must serve a prefix that was only named at installation.
set(ENV{PKG_CONFIG_PATH} ${pkgconfig_dir})
consume(pkg-config -DKILN_PACK=${WORK}/find_package/add_one_pack.kiln)

consume(add_subdirectory -DKILN_SOURCE=${KILN_SOURCE} -DKILN_WARNINGS_AS_ERRORS=${STRICT}
  -DKILN_STATIC_DEPENDENCIES=${PORTABLE})
if(EXISTS ${WORK}/add_subdirectory/bin/unit_test)
  message(FATAL_ERROR "Kiln's tests were built inside of another project")
endif()
