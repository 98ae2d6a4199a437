// SPDX-License-Identifier: Apache-2.0
// A program with the files that it includes, and an edit of these files; all made of a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::cases {

enum class Kind : std::uint8_t { file, symbolic_link, hard_link, removed };

// A path in the case's folder, which is the application's current folder.
struct Entry {
  Kind kind = Kind::file;
  std::string path;
  std::string text;  // of a file; what a symbolic link names; the path that a hard link shares
};

// In all texts, kHere stands for the absolute path of the case's folder.
inline constexpr char kHere[] = "@HERE@";

struct Case {
  std::uint64_t seed = 0;
  std::vector<Entry> files;  // made in this order
  std::vector<Entry> edit;   // done in this order, to the files
  std::string source;
  std::vector<std::string> options;  // joined by blanks
};

// A program as people write them: all of them must be accepted.
Case plain_case(std::uint64_t seed);

// A program of spellings that readers of C get wrong. If `compiles`, a kernel `k` stores a number
// that depends on every line that is compiled, and most cases compile.
Case odd_case(std::uint64_t seed, bool compiles);

// For a seed alone: every third case is plain.
Case case_of(std::uint64_t seed);
bool is_plain(std::uint64_t seed);

std::string options_of(const Case &example);

}  // namespace kiln::cases
