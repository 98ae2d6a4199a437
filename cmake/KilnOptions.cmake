# Every option of the build. Tests and install are on only where Kiln is the top project.
if(PROJECT_IS_TOP_LEVEL)
  set(kiln_top_level ON)
else()
  set(kiln_top_level OFF)
endif()

option(KILN_BUILD_BUILDER "Build the builder and the kiln executable; OFF leaves the runtime" ON)
option(KILN_BUILD_TESTS "Build the tests" ${kiln_top_level})
option(KILN_INSTALL "Define the install rules" ${kiln_top_level})
option(KILN_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
option(KILN_STATIC_DEPENDENCIES
  "Link libraries other than the C library statically, so that kiln runs on any newer system" OFF)
option(KILN_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

if(KILN_SANITIZE)
  # vptr needs RTTI, which the runtime does without; the sanitizers' own code makes GCC warn.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer
    -Wno-stringop-overflow)
  add_link_options(-fsanitize=address,undefined)
endif()
