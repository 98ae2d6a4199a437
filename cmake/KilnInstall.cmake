# SPDX-License-Identifier: Apache-2.0
# Install rules: the runtime (static and shared) with its headers, CMake package and
# pkg-config file; the kiln executable and the header of reference libraries where it is built.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/kiln
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS kiln_runtime kiln_runtime_shared kiln_provision kiln_packs EXPORT kiln_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT kiln_targets NAMESPACE kiln:: DESTINATION ${package_dir} FILE kilnTargets.cmake)

set_target_properties(kiln_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(kiln_runtime_shared PROPERTIES EXPORT_NAME runtime_shared)
set_target_properties(kiln_provision PROPERTIES EXPORT_NAME provision)
set_target_properties(kiln_packs PROPERTIES EXPORT_NAME packs)

configure_package_config_file(cmake/kilnConfig.cmake.in ${CMAKE_BINARY_DIR}/kilnConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/kilnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
# Relative to where kiln.pc lies, so that an installation can be moved.
file(RELATIVE_PATH KILN_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(PREPEND KILN_PC_PREFIX "\${pcfiledir}/")
configure_file(cmake/kiln.pc.in ${CMAKE_BINARY_DIR}/kiln.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/kilnConfig.cmake ${CMAKE_BINARY_DIR}/kilnConfigVersion.cmake
  cmake/KilnFind.cmake cmake/KilnAddPack.cmake cmake/KilnEmbedPack.cmake
  DESTINATION ${package_dir})
install(FILES ${CMAKE_BINARY_DIR}/kiln.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET kiln_signed)
  set_target_properties(kiln_signed PROPERTIES EXPORT_NAME signed)
  install(TARGETS kiln_signed EXPORT kiln_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

if(TARGET kiln)
  install(FILES ${PROJECT_SOURCE_DIR}/builder/include/kiln/reference.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kiln)
  install(TARGETS kiln EXPORT kiln_targets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/manifests/virtual DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln)
  if(TARGET kiln_layer)
    install(TARGETS kiln_layer LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  set_target_properties(kiln_recorded PROPERTIES EXPORT_NAME recorded)
  install(TARGETS kiln_recorded EXPORT kiln_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # In the library folder, so that the module finds the libraries wherever the prefix is moved.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/python/kiln
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/kiln/python FILES_MATCHING PATTERN "*.py")
  # The manual page and the completion are made of what kiln --help prints, so kiln must run here.
  find_package(Python3 COMPONENTS Interpreter)
  if(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
    set(share ${CMAKE_BINARY_DIR}/share)
    set(made ${share}/kiln.1 ${share}/kiln.bash ${share}/kiln.zsh ${share}/kiln.fish)
    add_custom_command(OUTPUT ${made}
      COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/man.py $<TARGET_FILE:kiln> ${share}
      DEPENDS kiln ${PROJECT_SOURCE_DIR}/cmake/man.py VERBATIM)
    add_custom_target(kiln_manual ALL DEPENDS ${made})
    install(FILES ${share}/kiln.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${share}/kiln.bash RENAME kiln
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${share}/kiln.zsh RENAME _kiln
      DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${share}/kiln.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()
