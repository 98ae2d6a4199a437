// SPDX-License-Identifier: Apache-2.0
// Flattening: makes one text of a source file and the files that it includes, so that a pack
// carries everything that a driver's compiler needs. Reads files through an interface, and is
// otherwise pure; thread-safe if the interface is.
//
// `clang -E -frewrite-includes` does not serve: it resolves only the includes that are active with
// the host's macros, and a driver has other macros.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/packs/status.hpp"
#include "runtime/source/include_macros.hpp"

namespace kiln::source {

using packs::Code;
using packs::Result;
using packs::Status;

// The result of opening one path. The path is not normalised, since ".." after a symbolic link is
// not the folder that the text suggests.
struct OpenedFile {
  enum class Outcome { read, absent, refused };  // refused: it exists and cannot be read

  Outcome outcome = Outcome::absent;
  std::string text;
  std::string identity;  // equal for one file in one state, whatever path it was opened by
  std::string place;     // identity of its folder, and its name there
};
using ReadFile = std::function<OpenedFile(const std::filesystem::path &)>;  // called once per path

// Returns a file's name for `#line`.
using NameFile = std::function<std::string(const std::filesystem::path &)>;

inline constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;

// Reads regular files of at most kMaxTextBytes from the disk. A folder counts as an absent file.
ReadFile read_from_disk();

// Returns names for packs: relative to the manifest's folder, with '/'. The names depend neither on
// the working directory nor on the location of the tree, if both paths are given in the same way.
NameFile names_below(const std::filesystem::path &manifest_folder);

// Returns names for diagnostics: the path as opened.
NameFile names_as_opened();

// Rules for a program that some compiler accepted, and a driver whose rules are not known exactly.
// An #include under a condition whose file is not found becomes kMissingFile. Fails if only some
// compilers may find another file for a name.
struct AsCompiled {
  std::filesystem::path headers_dir;  // clCompileProgram's headers; empty if there are none
  // Folders in which some compiler looks for names in quotes before all others: fails if they have
  // the file of the source's own #include.
  std::vector<std::filesystem::path> first_dirs;
  // The include folders as other drivers read the options, if they read them differently: fails if
  // another file is found there.
  std::vector<std::vector<std::filesystem::path>> other_include_dirs;
};

// Stands for an #include whose file is not found. A compiler that does not skip the line fails, and
// cannot make a program of a file that the text does not hold.
inline constexpr char kMissingFile[] = "#error Kiln found no file for this #include";

struct FlattenRequest {
  std::filesystem::path source;
  std::vector<std::filesystem::path> include_dirs;  // searched after the including file's folder
  ReadFile read;
  NameFile name;
  IncludeMacros macros{};  // from the options; names of files may use them
  std::optional<AsCompiled> as_compiled{};
};

// A file that was included in a text.
struct IncludedFile {
  std::string path;      // as opened
  std::string text;      // all of it, as read
  std::string identity;  // OpenedFile::identity
};

struct Flattened {
  std::string text;
  std::vector<IncludedFile> files;  // without the source: each path once, in reading order
  bool has_includes = false;        // has an #include, whether or not there is a file
};

// Replaces `#include "x"` by the text of x, between `#line` directives, and `#include <x>` if an
// include folder has x; includes of the compilers' own files stay. Replaces every such line, under
// an #if or not, so a file in quotes must exist. `#pragma once` becomes an #ifndef of the
// flattener's own macro (KILN_ONCE_1, ...), since compilers no longer see the files. Line ends
// become "\n"; a byte-order mark is dropped.
//
// Accepts a strict subset, in which the text means the same as the files whatever a compiler
// defines. Fails with Code::bad_input for: a missing file; a name in neither quotes nor angle
// brackets that its macros do not give with certainty; one file by two names; doubts of odd_bytes()
// and scan(); conditionals that a file does not close itself; `#pragma once` under a condition; a
// file that includes itself, directly or through others, with neither `#pragma once` before nor an
// include guard that stays defined; in several files, directives and pragmas that are not listed
// (is_listed()); more than 64 levels; a text of more than 16 MiB. The message is
// complete and ready to print: file:line:column with the path as opened, the line, a caret, the
// expected text; then the chain of files that led there.
Result<Flattened> flatten(const FlattenRequest &request);

}  // namespace kiln::source
