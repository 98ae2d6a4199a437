# SPDX-License-Identifier: Apache-2.0
# Adds to each package's folder what Debian expects of a package and an installation does not have:
# copyright, changelog, a compressed manual page, and the Python module where Python looks for it.
# CPack runs this between staging and packing.
file(GLOB stages ${CPACK_TEMPORARY_DIRECTORY}/kiln_*)
# Of these Kiln links code into its files, so their licences hold, too.
file(STRINGS ${CPACK_KILN_SOURCE}/cmake/linked_libraries.txt linked)

set(copyright "Kiln, copyright The Kiln authors, under the Apache License, Version 2.0. On Debian
systems that licence is in /usr/share/common-licenses/Apache-2.0.

Kiln's files hold code of the libraries below, whose notices follow.
")
foreach(library IN LISTS linked)
  set(notice /usr/share/doc/${library}/copyright)
  if(EXISTS ${notice})
    file(READ ${notice} text)
    string(APPEND copyright "\n==== ${library}\n\n${text}")
  endif()
endforeach()

set(format "%a, %d %b %Y %H:%M:%S +0000")
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  string(TIMESTAMP date ${format} UTC)
else()
  file(TIMESTAMP ${CPACK_KILN_SOURCE}/CHANGELOG.md date ${format} UTC)
endif()
set(changelog "kiln (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Built from the sources of this version, whose CHANGELOG.md the package
    kiln has.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}
")

function(compress path)
  execute_process(COMMAND gzip -9nf ${path} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(stage IN LISTS stages)
  get_filename_component(component ${stage} NAME)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(usr ${stage}/usr)
  set(documents ${usr}/share/doc/${package})
  file(WRITE ${documents}/copyright "${copyright}")
  file(WRITE ${documents}/changelog "${changelog}")
  file(CHMOD ${documents}/copyright ${documents}/changelog
    PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  compress(${documents}/changelog)
  file(GLOB pages ${usr}/share/man/man1/*.1)
  foreach(page IN LISTS pages)
    compress(${page})
  endforeach()
  if(component STREQUAL "kiln_python")
    file(MAKE_DIRECTORY ${usr}/lib/python3/dist-packages)
    file(RENAME ${usr}/${CPACK_KILN_LIBRARIES}/kiln/python/kiln
      ${usr}/lib/python3/dist-packages/kiln)
    file(REMOVE_RECURSE ${usr}/${CPACK_KILN_LIBRARIES}/kiln)
  endif()
  # Whatever the umask is. CMake's CHMOD_RECURSE fails at links to what another package has.
  execute_process(COMMAND find ${stage} -type d -exec chmod 755 {} + COMMAND_ERROR_IS_FATAL ANY)
endforeach()
