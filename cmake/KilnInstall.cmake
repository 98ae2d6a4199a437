# SPDX-License-Identifier: Apache-2.0
# Install rules. Each file belongs to one component, which is one Debian package (KilnPackage.cmake):
#   kiln_runtime      the shared libraries
#   kiln_development  headers, static libraries, the CMake package, pkg-config files
#   kiln_builder      the program kiln with its data, manual pages and documents
#   kiln_fleet        the program kiln-fleet, which `kiln fleet` starts, and what calls it
#   kiln_layer        the OpenCL layer
#   kiln_python       the Python module
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)

# kiln_install_libraries(TARGETS...): kiln_NAME is kiln::NAME where Kiln is installed, too.
function(kiln_install_libraries)
  foreach(target ${ARGN})
    string(REGEX REPLACE "^kiln_" "" name ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  endforeach()
  install(TARGETS ${ARGN} EXPORT kiln_targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kiln_development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kiln_runtime
      NAMELINK_COMPONENT kiln_development
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT kiln_runtime)
endfunction()

# kiln_install_export(EXPORT FILE COMPONENT): for programs and modules an export of their own, which
# kilnConfig.cmake includes where the component is installed.
function(kiln_install_export export file component)
  install(EXPORT ${export} NAMESPACE kiln:: DESTINATION ${package_dir} FILE ${file}
    COMPONENT ${component})
endfunction()

# Documents and examples lie as in the repository, so that their links hold.
set(document_dir ${CMAKE_INSTALL_DATADIR}/doc/kiln)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${document_dir}
  COMPONENT kiln_development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/kiln COMPONENT kiln_development
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/dropin DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln
  COMPONENT kiln_development)
kiln_install_libraries(kiln_runtime kiln_runtime_shared kiln_packs)
set(pc_files kiln)
if(TARGET kiln_launch_shared)
  kiln_install_libraries(kiln_launch_shared)
endif()
foreach(name launch provision signed recorded)
  if(TARGET kiln_${name})
    kiln_install_libraries(kiln_${name})
    list(APPEND pc_files kiln_${name})
  endif()
endforeach()
kiln_install_export(kiln_targets kilnTargets.cmake kiln_development)

configure_package_config_file(cmake/kilnConfig.cmake.in ${CMAKE_BINARY_DIR}/kilnConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/kilnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/kilnConfig.cmake ${CMAKE_BINARY_DIR}/kilnConfigVersion.cmake
  cmake/KilnFind.cmake cmake/KilnHostTool.cmake cmake/KilnAddPack.cmake cmake/KilnEmbedPack.cmake
  DESTINATION ${package_dir} COMPONENT kiln_development)

# Relative to where the file lies, so that an installation can be moved.
file(RELATIVE_PATH KILN_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(PREPEND KILN_PC_PREFIX "\${pcfiledir}/")
string(REGEX REPLACE "/$" "" KILN_PC_PREFIX ${KILN_PC_PREFIX})
set(KILN_PC_ZSTD)
if(KILN_ZSTD)
  set(KILN_PC_ZSTD libzstd)
endif()
foreach(name ${pc_files})
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT kiln_development)
endforeach()

if(TARGET kiln_layer)
  set_target_properties(kiln_layer PROPERTIES EXPORT_NAME layer)
  install(TARGETS kiln_layer EXPORT kiln_layer_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kiln_layer)
  kiln_install_export(kiln_layer_targets kilnLayerTargets.cmake kiln_layer)
endif()

if(TARGET kiln_recorded)
  # In the library folder, so that the module finds the libraries wherever the prefix is moved.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/python/kiln COMPONENT kiln_python
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/kiln/python FILES_MATCHING PATTERN "*.py")
endif()

if(TARGET kiln)
  install(FILES ${PROJECT_SOURCE_DIR}/kernels/include/kiln/reference.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kiln COMPONENT kiln_development)
  install(TARGETS kiln EXPORT kiln_builder_targets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT kiln_builder)
  kiln_install_export(kiln_builder_targets kilnBuilderTargets.cmake kiln_builder)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/manifests/virtual
    DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln COMPONENT kiln_builder)
  install(FILES ${PROJECT_SOURCE_DIR}/manifests/known-bad.toml
    DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln COMPONENT kiln_builder)
  if(TARGET kiln-fleet)  # not on Windows
    install(TARGETS kiln-fleet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT kiln_fleet)
    install(DIRECTORY cmake/watch DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln COMPONENT kiln_fleet)
  endif()
  install(DIRECTORY cmake/systemd/ DESTINATION lib/systemd/user COMPONENT kiln_builder)
  install(FILES README.md CHANGELOG.md DESTINATION ${document_dir} COMPONENT kiln_builder)
  install(DIRECTORY docs DESTINATION ${document_dir} COMPONENT kiln_builder
    PATTERN Doxyfile EXCLUDE)
  install(FILES packs/FORMAT.md DESTINATION ${document_dir}/packs COMPONENT kiln_builder)
  install(FILES runtime/OVERLAY.md DESTINATION ${document_dir}/runtime COMPONENT kiln_builder)
  # The manual pages are made of what kiln --help prints, so kiln must run here.
  find_program(KILN_HELP2MAN help2man)
  if(KILN_HELP2MAN AND NOT CMAKE_CROSSCOMPILING)
    set(manual ${CMAKE_BINARY_DIR}/share/man1)
    add_custom_command(OUTPUT ${manual}/kiln.1
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
      COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/man.sh $<TARGET_FILE:kiln> ${manual}
      DEPENDS kiln cmake/man.sh cmake/man.h2m VERBATIM)
    add_custom_target(kiln_manual ALL DEPENDS ${manual}/kiln.1)
    install(DIRECTORY ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT kiln_builder
      PATTERN kiln-fleet*.1 EXCLUDE)
    install(DIRECTORY ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT kiln_fleet
      FILES_MATCHING PATTERN kiln-fleet*.1)
  endif()
endif()
