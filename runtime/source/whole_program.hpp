// SPDX-License-Identifier: Apache-2.0
// What an application builds, as something that can be built anywhere.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/packs/status.hpp"
#include "runtime/source/flatten.hpp"

namespace kiln::source {

// A source that includes no file but the compilers' own, and options without -I; or SPIR-V.
struct WholeProgram {
  std::string name;    // program_name()
  std::string source;  // or the module's bytes
  std::string options;
  bool is_il = false;
  bool includes = false;   // it has #include directives, of files that are there or not
  std::string state = {};  // Flattened::state
  // If it includes files: what the source was made of, so that a compiler can be asked whether both
  // mean the same. Paths are absolute, but not cleaned; those of headers of clCompileProgram begin
  // with kHeadersFolder.
  std::string own_source = {};
  std::string own_options = {};
  std::string folder = {};  // the current one
  std::vector<IncludedFile> files = {};
};

inline constexpr char kHeadersFolder[] = "<headers>";  // a folder that no disk has

// Whether the source was put together of files. Such a text begins with a mark of whole_program()
// that no application writes, so that it cannot be mistaken for an application's own text.
bool is_put_together(std::string_view source);

// "cl-" and 32 hexadecimal digits, of both byte for byte.
std::string program_name(std::string_view source, std::string_view options);
// Whether it has that form, in lower case.
bool is_program_name(std::string_view name);

// The headers of clCompileProgram: the source of each by the name that includes it.
using Headers = std::map<std::string, std::string>;

// Takes the included files into the source: from `headers`, from the folders of -I, from the
// current folder, and by absolute names, which may be made of macros. Pure but for these files;
// takes any thread.
//
// The name covers every byte that a compiler reads of the program, and the source means what the
// files mean, or it fails and the message says why: where compilers may read the text, the options
// or the names of files in different ways (flatten(), include_options()), and where the text asks
// for the time or for files, also by pasted words.
packs::Result<WholeProgram> whole_program(std::string_view source, std::string_view options,
                                          const Headers &headers = {});

// A SPIR-V module, which includes no files, with its options. Fails if the bytes are not a SPIR-V
// module in this machine's byte order.
packs::Result<WholeProgram> whole_module(std::string_view module, std::string_view options);

// What is linked of these programs, by their names in their order, with options of the linker. No
// compiler makes it of one text: the source is a text that names them, and that none compiles.
WholeProgram whole_link(const std::vector<std::string> &parts, std::string_view options);

// Fails if a file that was included has changed since, or was changed and put back, so that whoever
// read it since may have seen another text.
packs::Status check_unchanged(const WholeProgram &program, std::string_view source,
                              std::string_view options, const Headers &headers = {});

}  // namespace kiln::source
