# SPDX-License-Identifier: Apache-2.0
# kiln_embed_pack(TARGET PACK SYMBOL name)
#
# Puts a pack into the executable or library TARGET: read-only, aligned to 64 bytes, and found
# at run time without a file. PACK is a file or a target of kiln_add_pack; TARGET is built again
# when it changes. The C or C++ code of TARGET includes "name.h", which declares
#   extern const unsigned char name_data[];
#   extern const size_t name_size;
# for kiln_pack_open_memory(name_data, name_size, &pack, &error). Both symbols are
# hidden: seen inside of TARGET alone. STUBS of the pack must have another name than name.h. GCC and Clang, for ELF (Linux, Android), Mach-O and PE (MinGW).
function(kiln_embed_pack target pack)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SYMBOL" "")
  if(NOT "${arg_SYMBOL}" MATCHES "^[A-Za-z_][A-Za-z0-9_]*$" OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kiln_embed_pack(${target} ${pack}): SYMBOL and a C identifier are wanted, "
      "not \"${arg_SYMBOL}${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  if(MSVC)
    message(FATAL_ERROR "kiln_embed_pack(${target}): needs GCC or Clang")
  endif()
  # Of two headers with one name the compiler takes the first, without a word.
  get_target_property(symbols ${target} KILN_SYMBOLS)
  if(arg_SYMBOL IN_LIST symbols)
    message(FATAL_ERROR "kiln_embed_pack(${target} ${pack}): ${target} has another pack with SYMBOL "
      "${arg_SYMBOL}")
  endif()
  set_property(TARGET ${target} APPEND PROPERTY KILN_SYMBOLS ${arg_SYMBOL})
  if(TARGET ${pack})
    get_target_property(stubs ${pack} KILN_STUBS)
    get_filename_component(stubs "${stubs}" NAME)
    if(stubs STREQUAL "${arg_SYMBOL}.h")
      message(FATAL_ERROR "kiln_embed_pack(${target} ${pack}): SYMBOL ${arg_SYMBOL} writes ${stubs}, "
        "as STUBS of ${pack} does: name one of them otherwise")
    endif()
    add_dependencies(${target} ${pack})
    get_target_property(pack ${pack} KILN_PACK)
  endif()
  get_filename_component(path ${pack} ABSOLUTE)
  if(path MATCHES "[\"\\\\\n]")
    message(FATAL_ERROR "kiln_embed_pack(${target}): no assembler takes the path ${path}")
  endif()
  get_target_property(folder ${target} BINARY_DIR)
  string(APPEND folder /${target}_embedded)
  set(symbol ${arg_SYMBOL})
  file(CONFIGURE OUTPUT ${folder}/${symbol}.h CONTENT [[
/* The pack @path@ */
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char @symbol@_data[];
extern const size_t @symbol@_size;
#ifdef __cplusplus
}
#endif
]] @ONLY)
  # Assembler within C and not a file of its own: a project need not enable the language ASM,
  # and the compiler adds what the platform wants in an object (stack notes, BTI).
  set(source ${folder}/${symbol}.c)
  if(NOT CMAKE_C_COMPILER_LOADED)
    set(source ${folder}/${symbol}.cpp)
  endif()
  file(CONFIGURE OUTPUT ${source} CONTENT [[
#include "@symbol@.h"
#include "@symbol@_hash.h"
#ifdef __APPLE__
#define SECTION ".section __TEXT,__const\n"
#define SYMBOL(name) ".globl _" name "\n.private_extern _" name "\n_" name ":\n"
#define END ".text"
#elif defined(_WIN32)
#define SECTION ".section .rdata$@symbol@,\"dr\"\n"
#define SYMBOL(name) ".globl " name "\n" name ":\n"
#define END ".text"
#else
#define SECTION ".pushsection .rodata.@symbol@,\"a\",%progbits\n"
#define SYMBOL(name) \
  ".globl " name "\n.hidden " name "\n.type " name ",%object\n" name ":\n"
#define END ".popsection"
#endif
#if __SIZEOF_POINTER__ == 8
#define SIZE ".quad"
#else
#define SIZE ".4byte"
#endif
__asm__(SECTION
        "/* " HASH " */\n"
        ".balign 64\n"
        SYMBOL("@symbol@_data")
        "0: .incbin \"@path@\"\n"
        "1: .balign 8\n"
        SYMBOL("@symbol@_size")
        SIZE " 1b - 0b\n"
        END);
]] @ONLY)
  # Compiler caches may not look into what .incbin names: they see another pack by its hash.
  set(hash ${folder}/${symbol}_hash)
  file(CONFIGURE OUTPUT ${hash}.cmake CONTENT [[
file(SHA256 "@path@" hash)
file(WRITE "@hash@.h" "#define HASH \"${hash}\"\n")
]] @ONLY)
  add_custom_command(OUTPUT ${hash}.h DEPENDS ${path} ${hash}.cmake VERBATIM
    COMMAND ${CMAKE_COMMAND} -P ${hash}.cmake COMMENT "Hashing the pack ${symbol}")
  add_custom_target(${target}_${symbol}_hash DEPENDS ${hash}.h)
  add_dependencies(${target} ${target}_${symbol}_hash)
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${folder})
  # Link-time optimisation does not see symbols inside of assembler. Headers that TARGET precompiles
  # may be C++ alone, and this source includes none of them.
  set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES
    OBJECT_DEPENDS ${path} COMPILE_OPTIONS -fno-lto SKIP_PRECOMPILE_HEADERS ON)
endfunction()
