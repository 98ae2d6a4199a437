# SPDX-License-Identifier: Apache-2.0
# kiln_add_pack(TARGET MANIFEST manifest.toml [OUTPUT file.kiln] [DEPENDS files...]
#               [OPTIONS options of `kiln compile`...])
#
# A target that makes a base pack (source and SPIR-V) from a manifest with the host's
# compilers. OUTPUT defaults to TARGET.kiln in the current binary folder; its path is the
# target's property KILN_PACK. DEPENDS names the kernel sources, so that a change makes the
# pack again. A kernel that does not compile fails the build with the compiler's message.
function(kiln_add_pack target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;OUTPUT" "DEPENDS;OPTIONS")
  if(NOT arg_MANIFEST)
    message(FATAL_ERROR "kiln_add_pack(${target}): MANIFEST is missing")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kiln_add_pack(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET kiln::kiln)
    message(FATAL_ERROR "kiln_add_pack(${target}): Kiln was built without its builder")
  endif()
  get_filename_component(manifest ${arg_MANIFEST} ABSOLUTE)
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${target}.kiln)
  endif()
  get_filename_component(output ${arg_OUTPUT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  add_custom_command(OUTPUT ${output}
    COMMAND kiln::kiln compile ${manifest} -o ${output} ${arg_OPTIONS}
    DEPENDS ${manifest} ${arg_DEPENDS} kiln::kiln
    COMMENT "Compiling the kernels of ${arg_MANIFEST}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
  set_target_properties(${target} PROPERTIES KILN_PACK ${output})
endfunction()
