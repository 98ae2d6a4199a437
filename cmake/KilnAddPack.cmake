# SPDX-License-Identifier: Apache-2.0
# kiln_add_pack(TARGET MANIFEST manifest.toml [OUTPUT file.kiln] [DEPENDS files...]
#               [OPTIONS options of `kiln compile`...]
#               [DEVICES patterns...] [VIRTUAL backend:model...] [MERGE packs...]
#               [BUILD_OPTIONS options of `kiln build`...]
#               [STUBS header])
#
# A target that makes a pack from a manifest, which need not be listed in DEPENDS, nor its sources
# and the files that they include: each of them, and the host's compilers, make the pack again when
# they change. OUTPUT defaults to TARGET.kiln in the current binary folder; its path is the target's
# property KILN_PACK. DEPENDS names files that another target makes. A kernel that does not compile
# fails the build with the compiler's message.
#
# Without DEVICES and VIRTUAL the pack has source and SPIR-V. DEVICES adds binaries of this machine's
# devices, each pattern as for `kiln build --device`, and VIRTUAL of devices that are not here, as
# for `kiln build --virtual`; a pattern without a device fails the build. MERGE adds the targets of
# packs that were built elsewhere: files, or targets of kiln_add_pack.
#
# STUBS names a header for typed launches, in the current binary folder: C++, or C if it ends in .h.
# It is made with the pack. What links TARGET_stubs finds it, and is compiled after it was made.
function(kiln_add_pack target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;OUTPUT;STUBS"
    "DEPENDS;OPTIONS;DEVICES;VIRTUAL;MERGE;BUILD_OPTIONS")
  if(NOT arg_MANIFEST)
    message(FATAL_ERROR "kiln_add_pack(${target}): MANIFEST is missing")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kiln_add_pack(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET kiln::kiln)
    message(FATAL_ERROR "kiln_add_pack(${target}): the program kiln is missing: install the Debian "
      "package kiln, or build Kiln with KILN_BUILD_BUILDER=ON")
  endif()
  get_filename_component(manifest ${arg_MANIFEST} ABSOLUTE)
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${target}.kiln)
  endif()
  get_filename_component(output ${arg_OUTPUT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})

  # The base pack, then one pack after the other: each step reads the one before it.
  set(steps)
  set(made ${output})
  set(built ${output})
  if(arg_MERGE)
    set(built ${output}.built)
  endif()
  if(arg_DEVICES OR arg_VIRTUAL)
    set(made ${output}.base)
    # Targets of earlier calls are not kept; what was compiled for them is in Kiln's store.
    list(APPEND steps COMMAND ${CMAKE_COMMAND} -E rm -f ${built})
    foreach(pattern IN LISTS arg_DEVICES)
      list(APPEND steps COMMAND kiln::kiln build ${made} -o ${built} --device ${pattern}
        ${arg_BUILD_OPTIONS})
    endforeach()
    foreach(model IN LISTS arg_VIRTUAL)
      list(APPEND steps COMMAND kiln::kiln build ${made} -o ${built} --virtual ${model}
        ${arg_BUILD_OPTIONS})
    endforeach()
  elseif(arg_MERGE)
    set(made ${built})
  endif()
  set(others)
  foreach(pack IN LISTS arg_MERGE)
    if(TARGET ${pack})
      get_target_property(pack ${pack} KILN_PACK)
    endif()
    get_filename_component(pack ${pack} ABSOLUTE)
    list(APPEND others ${pack})
  endforeach()
  if(arg_MERGE)
    list(APPEND steps COMMAND kiln::kiln pack merge ${built} ${others} -o ${output})
  endif()

  add_custom_command(OUTPUT ${made}
    COMMAND kiln::kiln compile ${manifest} -o ${made} --depfile ${output}.d ${arg_OPTIONS}
    DEPENDS ${manifest} ${arg_DEPENDS} kiln::kiln
    DEPFILE ${output}.d
    COMMENT "Compiling the kernels of ${arg_MANIFEST}"
    VERBATIM)
  if(steps)
    add_custom_command(OUTPUT ${output}
      ${steps}
      DEPENDS ${made} ${others} kiln::kiln
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}  # descriptions of virtual devices may be there
      COMMENT "Building ${arg_OUTPUT} for its devices"
      VERBATIM)
  endif()
  set(stubs)
  if(arg_STUBS)
    get_filename_component(stubs ${arg_STUBS} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
    get_filename_component(folder ${stubs} DIRECTORY)
    add_custom_command(OUTPUT ${stubs}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND kiln::kiln stubs ${output} -o ${stubs}
      DEPENDS ${output} kiln::kiln
      COMMENT "Writing ${arg_STUBS}"
      VERBATIM)
    add_library(${target}_stubs INTERFACE)
    target_include_directories(${target}_stubs INTERFACE ${folder})
    add_dependencies(${target}_stubs ${target})
  endif()
  add_custom_target(${target} ALL DEPENDS ${output} ${stubs})
  set_target_properties(${target} PROPERTIES KILN_PACK ${output})
endfunction()
