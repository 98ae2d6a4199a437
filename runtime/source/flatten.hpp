// SPDX-License-Identifier: Apache-2.0
// Flattening: one text out of a source file and the files that it includes, so that a pack
// carries all that a driver's compiler needs. Reads through an interface and is otherwise
// pure: safe to use from any thread if the interface is.
//
// Not `clang -E -frewrite-includes`, which resolves only the includes that are active with the
// host's macros: a driver has other macros.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/packs/result.hpp"
#include "runtime/source/include_macros.hpp"

namespace kiln::source {

using packs::Code;
using packs::Result;
using packs::Status;

// The whole file, or nothing when it is not there. Called at most once for each path.
using ReadFile = std::function<std::optional<std::string>(const std::filesystem::path &)>;

// How a file is called in `#line`.
using NameFile = std::function<std::string(const std::filesystem::path &)>;

// From the disk: regular files of at most 16 MiB.
ReadFile read_from_disk();

// Names for packs: relative to the manifest's folder, with '/'. They depend neither on the
// working directory nor on where the tree is, if both paths are given in the same way.
NameFile names_below(const std::filesystem::path &manifest_folder);

// Names for diagnostics: the path as it is opened.
NameFile names_as_opened();

struct FlattenRequest {
  std::filesystem::path source;
  std::vector<std::filesystem::path> include_dirs;  // searched after the including file's folder
  ReadFile read;
  NameFile name;

  // For a program that some compiler took as it is: includes may name files by absolute paths and
  // by macros, those of `macros` and of the text, and what is not found stays as it stands, as
  // under a condition that does not hold.
  bool as_compiled = false;
  IncludeMacros macros;
};

struct Flattened {
  std::string text;
  std::vector<std::filesystem::path> files;  // each once, in the order of reading; source first
  bool left_includes = false;                // of what was not found
};

// Replaces `#include "x"` by the text of x, between `#line` directives, and `#include <x>` where an
// include folder has it; compilers' own stay. Every such line is replaced, be it under an #if or
// not, so a file in quotes must be there. `#pragma once` becomes an #ifndef of the flattener's own
// (KILN_ONCE_1, ...), since compilers do not see the files any more. Line ends become "\n"; a
// byte-order mark goes.
//
// Fails with Code::bad_input for: a file that is not there; a name in neither quotes nor angle
// brackets, or by macros that are not certain; a file that includes itself, directly or through
// others, with neither `#pragma once` nor an include guard; more than 64 levels; a text of more
// than 16 MiB. The message is whole and ready to print: file:line:column as the file is opened, the
// line, a caret, what was expected; then the chain of files that led there.
Result<Flattened> flatten(const FlattenRequest &request);

}  // namespace kiln::source
