# SPDX-License-Identifier: Apache-2.0
# Builds the runtime without the builder, as an application does, and runs its quick tests.
#   cmake -DKILN_SOURCE=... -DWORK=... [-DLAUNCHER=ccache] [-DTOOLCHAIN=file] [-DTESTS=names]
#         [-DBUILDER=ON, for kiln.exe] -P runtime_alone.cmake
include(${CMAKE_CURRENT_LIST_DIR}/build_steps.cmake)

if(NOT BUILDER)
  set(BUILDER OFF)
endif()

if(TOOLCHAIN)  # as bootstrap.sh builds for it, so that a compiler cache has half of it
  set(toolchain -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN} -DCMAKE_CXX_FLAGS_RELEASE=-O1
    -DKILN_QUICK_BUILD=ON)
endif()
run(${CMAKE_COMMAND} -S ${KILN_SOURCE} -B ${WORK} -G Ninja -DCMAKE_BUILD_TYPE=Release
  -DKILN_BUILD_BUILDER=${BUILDER} -DKILN_BUILD_TESTS=ON -DKILN_WARNINGS_AS_ERRORS=ON -DKILN_UNITY_BUILD=ON
  -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} ${toolchain})
file(STRINGS ${WORK}/CMakeCache.txt found REGEX "^kiln_(fmt|json|toml|cli11|stb)_")
if(found AND NOT BUILDER)
  message(FATAL_ERROR "the runtime alone asks for what only the builder needs: ${found}")
endif()
set(targets)
if(TESTS)  # these alone
  set(targets --target ${TESTS})
  list(JOIN TESTS "|" names)
  set(other -R "^(${names})$")
endif()
run(${CMAKE_COMMAND} --build ${WORK} --parallel 2 ${targets})
if(NOT TOOLCHAIN)  # these are the main build's, object for object
  set(other -E "^(arrows|counts|format|format_test|ladder_test|named_paths|overlay_faults_test|skips|source_test|spdx|subjects|summary)$")
endif()
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${WORK} -L quick ${other} -j 2
  --output-on-failure --no-tests=error RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the runtime's quick tests failed")
endif()
