// SPDX-License-Identifier: Apache-2.0
// A program with the files that it includes, and an edit of these files; all made of a seed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kiln::cases {

enum class Kind : std::uint8_t { file, symbolic_link, hard_link, removed, renamed };

// A path in the case's folder.
struct Entry {
  Kind kind = Kind::file;
  std::string path;
  std::string text;  // of a file; a link's target; the path that a hard link shares; the new path
};

// In all texts, kHere stands for the absolute path of the case's folder; in the values of
// variables, kWho stands for the process: two processes must not share a cache.
inline constexpr char kHere[] = "@HERE@";
inline constexpr char kWho[] = "@WHO@";

struct Case {
  std::uint64_t seed = 0;
  std::vector<Entry> files;  // made in this order
  std::vector<Entry> edit;   // done in this order, to the files
  std::string source;
  std::vector<std::string> options;  // joined by blanks
  std::string current;               // the application's current folder, in the case's folder

  // For drivers only.
  std::map<std::string, std::string> variables;  // of the environment, in some of the starts
  // Headers of clCompileProgram, by name, and after the edit.
  std::vector<std::pair<std::string, std::string>> headers, edited_headers;
  std::vector<Entry> back;  // undoes the edit, if both alternate during builds; else empty
  unsigned pause = 0;       // microseconds between edit and back
};

// A program as people write them: all of them must be accepted.
Case plain_case(std::uint64_t seed);

// A program of spellings that readers of C get wrong. If `compiles`, a kernel `k` stores a number
// that depends on every line that is compiled, and most cases compile.
Case odd_case(std::uint64_t seed, bool compiles);

// A small program whose kernel `k` stores VALUE, and requires a work-group of that size, with one
// to three draws of what may change a program: characters, names, words of compilers, files,
// variables, folders, moves. `driver`: pocl, rusticl or neo; empty for Clang's preprocessor.
Case wild_case(std::uint64_t seed, const std::string &driver);

// For a seed alone: two fifths are plain, one is odd, and two are wild.
Case case_of(std::uint64_t seed);
enum class Sort : std::uint8_t { plain, odd, wild };
Sort sort_of(std::uint64_t seed);

std::string options_of(const Case &example);

}  // namespace kiln::cases
