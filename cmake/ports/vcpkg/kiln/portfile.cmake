# SPDX-License-Identifier: Apache-2.0
# Builds the tree that this port lies in: a checkout, or the unpacked source tarball. vcpkg does not
# see that the tree changes: after a change, `vcpkg remove kiln` and install with --no-binarycaching.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES
    builder KILN_BUILD_BUILDER
)

# A program belongs in tools/kiln, and finds its data and the layer from there. vcpkg's own
# CMAKE_INSTALL_BINDIR precedes what stands in OPTIONS_RELEASE.
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${FEATURE_OPTIONS}
    -DKILN_BUILD_TESTS=OFF
    -DKILN_UNITY_BUILD=ON
    "-DKILN_FLATC=${CURRENT_HOST_INSTALLED_DIR}/tools/flatbuffers/flatc${VCPKG_HOST_EXECUTABLE_SUFFIX}"
  OPTIONS_RELEASE
    "-DCMAKE_INSTALL_BINDIR:STRING=tools/${PORT}"
  OPTIONS_DEBUG
    -DKILN_BUILD_BUILDER=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/kiln)
vcpkg_fixup_pkgconfig()

if("builder" IN_LIST FEATURES)
  set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)  # the layer is built for release alone
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib/kiln")  # the Python module
endif()
file(REMOVE_RECURSE
  "${CURRENT_PACKAGES_DIR}/debug/include"
  "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc"
  "${CURRENT_PACKAGES_DIR}/share/man"
)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
