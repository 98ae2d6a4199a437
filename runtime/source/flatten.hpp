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

#include "kiln/packs/status.hpp"
#include "runtime/source/directives.hpp"

namespace kiln::source {

using packs::Code;
using packs::Result;
using packs::Status;

// One path as it was opened: not normalised, since ".." behind a symbolic link is not the folder
// that its text names.
struct OpenedFile {
  enum class Outcome { read, absent, refused };  // refused: it is there, and cannot be read

  Outcome outcome = Outcome::absent;
  std::string text;
  std::string identity;  // equal for one file in one state, by whichever path it was opened
  std::string place;     // its folder's identity and its name in that folder
};
using ReadFile = std::function<OpenedFile(const std::filesystem::path &)>;  // asked once a path

// How a file is called in `#line`.
using NameFile = std::function<std::string(const std::filesystem::path &)>;

// From the disk: regular files of at most 16 MiB. Folders are absent files.
ReadFile read_from_disk();

// Names for packs: relative to the manifest's folder, with '/'. They depend neither on the
// working directory nor on where the tree is, if both paths are given in the same way.
NameFile names_below(const std::filesystem::path &manifest_folder);

// Names for diagnostics: the path as it is opened.
NameFile names_as_opened();

// For a program that some compiler took as it is, from a driver whose rules are not known exactly.
// What is not found stays as it stands, as under a condition that does not hold; what compilers may
// find is refused, unless every compiler skips the line.
struct AsCompiled {
  IncludeMacros macros;               // of the options; names of files may be made of them
  Conditions conditions;              // with the macros of the options
  std::filesystem::path headers_dir;  // of clCompileProgram's headers; empty if there are none
  // Where some compilers look, too, and others do not: a file that is found there is refused.
  std::vector<std::filesystem::path> other_dirs;
  // The include folders as another driver reads the options, if it does: a file that is found there
  // is refused, too.
  std::vector<std::filesystem::path> other_include_dirs;
};

struct FlattenRequest {
  std::filesystem::path source;
  std::vector<std::filesystem::path> include_dirs;  // searched after the including file's folder
  ReadFile read;
  NameFile name;
  std::optional<AsCompiled> as_compiled;
};

// A file that went into a text.
struct IncludedFile {
  std::string path;      // as it was opened
  std::string text;      // all of it, as it was read
  std::string identity;  // OpenedFile::identity
};

struct Flattened {
  std::string text;
  std::vector<IncludedFile> files;  // but the source: each path once, in the order of reading
  std::string state;                // identities of the files: other ones, other files
  bool left_includes = false;       // of files that were not found
};

// Replaces `#include "x"` by the text of x, between `#line` directives, and `#include <x>` where an
// include folder has it; compilers' own stay. Every such line is replaced, be it under an #if or
// not, so a file in quotes must be there. `#pragma once` becomes an #ifndef of the flattener's own
// (KILN_ONCE_1, ...), since compilers do not see the files any more. Line ends become "\n"; a
// byte-order mark goes.
//
// It takes a strict subset, in which the text means what the files mean whatever a compiler
// defines. Fails with Code::bad_input for: a file that is not there; a name in neither quotes nor
// angle brackets, or by macros that are not certain; one file by two names; what odd_bytes() and
// scan() doubt; conditionals that a file does not close itself; `#pragma once` under a condition;
// a file that includes itself, directly or through others, with neither `#pragma once` before nor
// an include guard that stays defined; `#line`, `#include_next` and other directives and pragmas
// that mean something else in one text; more than 64 levels; a text of more than 16 MiB. The
// message is whole and ready to print: file:line:column as the file is opened, the line, a caret,
// what was expected; then the chain of files that led there.
Result<Flattened> flatten(const FlattenRequest &request);

}  // namespace kiln::source
