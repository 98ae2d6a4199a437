// SPDX-License-Identifier: Apache-2.0
// An application's program, in a form that can be built anywhere.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/packs/status.hpp"
#include "runtime/source/flatten.hpp"

namespace kiln::source {

// A source that includes no file, with options without -I; or SPIR-V.
struct WholeProgram {
  std::string name;    // program_name()
  std::string source;  // or the module's bytes
  std::string options;
  bool is_il = false;
  // Some drivers may not build the application's text: they read quotes in -I as part of the name,
  // refuse headers of clCompileProgram, as rusticl 22.3 does, or a byte-order mark, which a
  // flattened text does not have.
  bool may_be_missing = false;
  // If quotes in -I decide whether a driver finds the files: the options of -I alone, and a text
  // that compilers take only if they find the files with these options. Else both are empty.
  std::string include_options = {};
  std::string finding_source = {};
  // What the source was made from, if it had an #include, so that a compiler can be asked whether
  // both mean the same; else empty. Paths are absolute, but not cleaned; paths of
  // clCompileProgram's headers begin with kHeadersFolder.
  std::string own_source = {};
  std::string own_options = {};
  std::string folder = {};  // the current folder
  std::vector<IncludedFile> files = {};
  std::vector<WholeProgram> parts = {};  // of a link
};

inline constexpr char kHeadersFolder[] = "<headers>";  // a folder that no disk has

// Returns whether the source was made from files. Such a text begins with a mark of whole_program()
// that no application writes, so it cannot be mistaken for an application's own text.
bool is_flattened(std::string_view source);

// Returns "cl-" and 32 hexadecimal digits, made from both byte for byte.
std::string program_name(std::string_view source, std::string_view options);
// Returns whether `name` has that form, in lower case.
bool is_program_name(std::string_view name);

// The headers of clCompileProgram: the source of each, by its include name.
using Headers = std::map<std::string, std::string>;

// Takes the included files into the source: from `headers`, the folders of -I, the current folder,
// and absolute paths; macros may form the names. Pure apart from these files; thread-safe.
//
// The name covers every byte that a compiler of the source reads, and the source means the same as
// the application's text with its files: a compiler that reads another file for one of them fails.
// Fails with the reason if compilers may read the text, the options or the names of files in
// different ways (flatten(), scan(), is_listed(), include_options()), or if the text asks for the
// time, for files or for its own place, also by pasted words or inline assembly.
packs::Result<WholeProgram> whole_program(std::string_view source, std::string_view options,
                                          const Headers &headers = {});

// Returns a SPIR-V module, which includes no files, with its options. Fails if the bytes are not a
// SPIR-V module in this machine's byte order.
packs::Result<WholeProgram> whole_module(std::string_view module, std::string_view options);

// Returns a link of these programs, in this order, with the linker's options. The source is
// packs::linked_source(), which holds the parts' texts and options.
WholeProgram whole_link(std::vector<WholeProgram> parts, std::string_view options);

// Variants of recorded links have names that begin so, those of other programs with "recorded-".
inline constexpr char kLinkedVariant[] = "linked-";

}  // namespace kiln::source
