# SPDX-License-Identifier: Apache-2.0
# kiln_add_pack(TARGET
#   MANIFEST manifest.toml | SOURCES files... [OPTIONS build options...] [INCLUDE_DIRS folders...]
#                                             [PROGRAM name]
#   [DEVICES patterns...] [VIRTUAL backend:model...] [MERGE packs...]
#   [COMPRESS ready|fleet|none] [SIGN secret-key] [OUTPUT file.kiln]
#   [STUBS header] [EMBED target] [DEPENDS files...]
#   [COMPILE_ARGUMENTS arguments of `kiln compile`...] [BUILD_ARGUMENTS arguments of `kiln build`...])
#
# A target that makes a pack from a manifest, or from sources, of which each is a program with all
# its kernels. They need not be listed in DEPENDS, nor the files that they include: each of them, and
# the host's compilers, make the pack again when they change. DEPENDS names files that another target
# makes. OUTPUT defaults to TARGET.kiln in the current binary folder; its path is the target's
# property KILN_PACK. A kernel that does not compile fails the build with the compiler's message.
#
# Without DEVICES and VIRTUAL the pack has source and SPIR-V. DEVICES adds binaries of this machine's
# devices, each pattern as for `kiln build --device`, and VIRTUAL of devices that are not here, as
# for `kiln build --virtual`; a pattern without a device fails the build. MERGE adds the targets of
# packs that were built elsewhere: files, or targets of kiln_add_pack. COMPRESS is as for `kiln pack
# merge`. SIGN signs the pack with a secret key of minisign, which asks for its password unless the
# key has none.
#
# STUBS names a header for typed launches, in the current binary folder: C++, or C if it ends in .h.
# It is made with the pack. What links TARGET_stubs finds it, and is compiled after it was made.
# EMBED puts the pack into an executable or library, as kiln_embed_pack(... SYMBOL TARGET) does.
#
# kiln::host runs all steps (KilnHostTool.cmake), also if the project is compiled for another machine.
function(kiln_add_pack target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;PROGRAM;COMPRESS;SIGN;OUTPUT;STUBS;EMBED"
    "SOURCES;OPTIONS;INCLUDE_DIRS;DEVICES;VIRTUAL;MERGE;DEPENDS;COMPILE_ARGUMENTS;BUILD_ARGUMENTS")
  set(caller "kiln_add_pack(${target})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${caller}: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_MANIFEST AND arg_SOURCES OR NOT (arg_MANIFEST OR arg_SOURCES))
    message(FATAL_ERROR "${caller}: MANIFEST or SOURCES is wanted, and not both")
  endif()
  if(arg_MANIFEST AND (arg_OPTIONS OR arg_INCLUDE_DIRS OR arg_PROGRAM))
    message(FATAL_ERROR
      "${caller}: OPTIONS, INCLUDE_DIRS and PROGRAM are for SOURCES: a manifest names its own")
  endif()
  if(arg_EMBED AND NOT TARGET ${arg_EMBED})
    message(FATAL_ERROR "${caller}: EMBED ${arg_EMBED}: there is no such target yet")
  endif()
  kiln_host_tool(${caller})
  set(inputs)
  foreach(input IN LISTS arg_MANIFEST arg_SOURCES)
    get_filename_component(input ${input} ABSOLUTE)
    list(APPEND inputs ${input})
  endforeach()
  set(words ${arg_COMPILE_ARGUMENTS})
  foreach(folder IN LISTS arg_INCLUDE_DIRS)
    get_filename_component(folder ${folder} ABSOLUTE)
    list(APPEND words -I ${folder})
  endforeach()
  if(arg_OPTIONS)
    # A word with spaces, such as -DNAME="a b", is written as clBuildProgram() takes it.
    list(JOIN arg_OPTIONS " " options)
    list(APPEND words --build-options ${options})
  endif()
  if(arg_PROGRAM)
    list(APPEND words --program ${arg_PROGRAM})
  endif()
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${target}.kiln)
  endif()
  get_filename_component(output ${arg_OUTPUT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})

  # The base pack, then one pack after the other: each step reads the one before it.
  set(steps)
  set(made ${output})
  set(unsigned ${output})
  if(arg_SIGN)
    set(unsigned ${output}.unsigned)
  endif()
  set(built ${unsigned})
  if(arg_MERGE OR arg_COMPRESS)
    set(built ${output}.built)
  endif()
  if(arg_DEVICES OR arg_VIRTUAL)
    set(made ${output}.base)
    # Targets of earlier calls are not kept; what was compiled for them is in Kiln's store.
    list(APPEND steps COMMAND ${CMAKE_COMMAND} -E rm -f ${built})
    foreach(pattern IN LISTS arg_DEVICES)
      list(APPEND steps COMMAND kiln::host build ${made} -o ${built} --device ${pattern}
        ${arg_BUILD_ARGUMENTS})
    endforeach()
    foreach(model IN LISTS arg_VIRTUAL)
      list(APPEND steps COMMAND kiln::host build ${made} -o ${built} --virtual ${model}
        ${arg_BUILD_ARGUMENTS})
    endforeach()
  else()
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
  if(arg_MERGE OR arg_COMPRESS)
    set(compress ${arg_COMPRESS})
    list(TRANSFORM compress PREPEND "--compress=")
    list(APPEND steps COMMAND kiln::host pack merge ${built} ${others} -o ${unsigned} ${compress})
  endif()
  if(arg_SIGN)
    get_filename_component(key ${arg_SIGN} ABSOLUTE)
    list(APPEND others ${key})
    list(APPEND steps
      COMMAND kiln::host pack sign ${unsigned} --secret-key ${key} -o ${output})
  endif()

  add_custom_command(OUTPUT ${made}
    COMMAND kiln::host compile ${inputs} -o ${made} --depfile ${output}.d ${words}
    DEPENDS ${inputs} ${arg_DEPENDS} kiln::host
    DEPFILE ${output}.d
    COMMENT "Compiling the kernels of ${target}"
    VERBATIM)
  if(steps)
    add_custom_command(OUTPUT ${output}
      ${steps}
      DEPENDS ${made} ${others} kiln::host
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}  # descriptions of virtual devices may be there
      COMMENT "Building ${arg_OUTPUT}"
      VERBATIM)
  endif()
  set(stubs)
  if(arg_STUBS)
    get_filename_component(stubs ${arg_STUBS} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
    get_filename_component(folder ${stubs} DIRECTORY)
    add_custom_command(OUTPUT ${stubs}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND kiln::host stubs ${output} -o ${stubs}
      DEPENDS ${output} kiln::host
      COMMENT "Writing ${arg_STUBS}"
      VERBATIM)
    add_library(${target}_stubs INTERFACE)
    target_include_directories(${target}_stubs INTERFACE ${folder})
    add_dependencies(${target}_stubs ${target})
  endif()
  add_custom_target(${target} ALL DEPENDS ${output} ${stubs})
  set_target_properties(${target} PROPERTIES KILN_PACK ${output} KILN_STUBS "${stubs}")
  if(arg_EMBED)
    kiln_embed_pack(${arg_EMBED} ${target} SYMBOL ${target})
  endif()
endfunction()
