# SPDX-License-Identifier: Apache-2.0
# Debian packages by CPack, one for each install component (KilnInstall.cmake), in the build folder's
# packages/:
#   cmake --build --preset release --target package
# builds everything first; `cpack` in the build folder packs what is built. The target source_tarball
# writes kiln-VERSION.tar.gz there, from git's last commit.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR CMAKE_CROSSCOMPILING)
  return()  # dpkg-shlibdeps asks this system's packages which of them has a library
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kiln)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # else CPack puts it before each package's own
set(CPACK_PACKAGE_VENDOR "The Kiln authors")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL kiln_runtime kiln_development)
foreach(pair kiln:builder kiln-fleet:fleet kiln_layer:layer kiln_recorded:python)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 target)
  list(GET pair 1 component)
  if(TARGET ${target})
    list(APPEND CPACK_COMPONENTS_ALL kiln_${component})
  endif()
endforeach()
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# Copyright, changelog and the compressed manual page, which only packages have.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian/package_files.cmake)
set(CPACK_KILN_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_KILN_LIBRARIES ${CMAKE_INSTALL_LIBDIR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Kiln authors <kiln@localhost.invalid>")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# kiln_debian_package(COMPONENT NAME SECTION SUMMARY DESCRIPTION [FIELD value]...)
function(kiln_debian_package component name section summary description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  while(ARGN)
    list(POP_FRONT ARGN field value)
    set(CPACK_DEBIAN_${upper}_PACKAGE_${field} ${value} PARENT_SCOPE)
  endwhile()
endfunction()

set(same "(= ${PROJECT_VERSION})")
set(loader "ocl-icd-libopencl1 | libopencl1")
# In the order in which bootstrap.sh tries them: clang and llvm-spirv must be of one version.
set(clang)
set(translator)
foreach(version 15 18 17 16 14 19)
  list(APPEND clang "clang-${version}")
  list(APPEND translator "llvm-spirv-${version}")
endforeach()
list(JOIN clang " | " clang)
list(JOIN translator " | " translator)

kiln_debian_package(kiln_runtime libkiln0 libs
  "runtime of Kiln, which loads OpenCL programs from packs"
  "Finds in a pack the binary that fits this device and driver, falls back to
SPIR-V and then to source, says why, and launches kernels."
  RECOMMENDS "${loader}")
# What others' packages depend on if they link the libraries: until 1.0 a minor version may change
# the interface. And ldconfig's cache is renewed.
set(control ${CMAKE_BINARY_DIR}/debian/libkiln0)
set(minor ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
math(EXPR next "${PROJECT_VERSION_MINOR} + 1")
set(shlibs)
foreach(library runtime launch signed recorded)
  string(APPEND shlibs "libkiln_${library} ${PROJECT_VERSION_MAJOR} "
    "libkiln0 (>= ${minor}), libkiln0 (<< ${PROJECT_VERSION_MAJOR}.${next})\n")
endforeach()
file(WRITE ${control}/shlibs "${shlibs}")
file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_KILN_RUNTIME_PACKAGE_CONTROL_EXTRA ${control}/shlibs ${control}/triggers)
kiln_debian_package(kiln_development libkiln-dev libdevel
  "headers and static libraries of Kiln's runtime"
  "For applications that load OpenCL programs from Kiln's packs: C and C++
headers, static libraries, a CMake package, pkg-config files and examples."
  DEPENDS "libkiln0 ${same}, libzstd-dev, opencl-c-headers"
  RECOMMENDS "kiln ${same}")
kiln_debian_package(kiln_builder kiln devel
  "compiles OpenCL programs ahead of time into packs"
  "Compiles OpenCL kernels once for each kind of device, with that device's own
driver, so that an application compiles nothing when it starts. Also records
and serves applications that do not know Kiln."
  DEPENDS "kiln-layer ${same}"
  RECOMMENDS "${loader}, ${clang}, ${translator}, spirv-tools"
  SUGGESTS "kiln-fleet ${same}, minisign, pocl-opencl-icd")
kiln_debian_package(kiln_fleet kiln-fleet admin
  "delivers OpenCL programs in packs to devices"
  "The commands `kiln fleet`: publish packs for a web server or a registry, fetch
one device's part, bring packs up to date after a driver's update, and report
which devices of a fleet still compile."
  DEPENDS "kiln ${same}"
  RECOMMENDS "curl"
  SUGGESTS "minisign, skopeo")
# A trigger runs what docs/operate/watch.md describes after drivers were installed or updated.
set(CPACK_DEBIAN_KILN_FLEET_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_LIST_DIR}/debian/kiln-fleet/postinst
  ${CMAKE_CURRENT_LIST_DIR}/debian/kiln-fleet/triggers)
kiln_debian_package(kiln_layer kiln-layer libs
  "OpenCL layer of Kiln for unchanged applications"
  "A library that the OpenCL ICD loader puts between an application and its
driver. It records the programs that the application builds, or serves them
from packs."
  RECOMMENDS "${loader}"
  SUGGESTS "kiln ${same}")
set(CPACK_DEBIAN_KILN_LAYER_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/kiln-layer/postrm)
kiln_debian_package(kiln_python python3-kiln python
  "loads PyOpenCL programs from Kiln's packs"
  "A Python module for applications that use PyOpenCL and cannot run under
Kiln's layer. With the package kiln it also makes and reads packs."
  DEPENDS "libkiln0 ${same}, python3"
  RECOMMENDS "python3-pyopencl"
  SUGGESTS "kiln ${same}"
  ARCHITECTURE all
  SHLIBDEPS OFF)
set(CPACK_DEBIAN_KILN_PYTHON_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_LIST_DIR}/debian/python3-kiln/postinst ${CMAKE_CURRENT_LIST_DIR}/debian/python3-kiln/prerm)

include(CPack)

find_package(Git QUIET)
if(Git_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  set(name kiln-${PROJECT_VERSION})
  add_custom_target(source_tarball
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CPACK_PACKAGE_DIRECTORY}
    COMMAND ${GIT_EXECUTABLE} archive --prefix=${name}/
      -o ${CPACK_PACKAGE_DIRECTORY}/${name}.tar.gz HEAD
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
endif()
