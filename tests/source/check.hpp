// SPDX-License-Identifier: Apache-2.0
// Kiln's reader against Clang's preprocessor, for one case on the disk.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

#include "tests/source/case.hpp"
#include "tests/source/preprocess.hpp"

namespace kiln::cases {

// What was seen of one case. `fault` is empty if Kiln may serve what it would serve.
struct Verdict {
  std::string fault;       // its kind, in a few words
  std::string detail;      // what Clang and Kiln made of the case
  std::string refused;     // the reason, before the edit; empty if the program was accepted
  bool compiles = false;   // Clang reports no error for the original
  bool edit_seen = false;  // accepted before and after the edit, which changed the tokens
};

class Checker {
 public:
  // The folder is emptied for each case; `empty` stays as it is.
  Checker(std::filesystem::path folder, std::filesystem::path empty)
      : folder_(std::move(folder)), empty_(std::move(empty)) {}

  // Changes the current folder. With `remember`, the names of all cases are compared, too.
  Verdict check(const Case &example, bool remember);

  // The case without the files, lines, options and steps that its kind of fault does not need.
  Case smallest(const Case &example);

  // Whether the program clang, run as `clang -cc1 -E`, prints the same tokens as preprocess() finds
  // in the case; the difference, else empty.
  std::string against_program(const Case &example, const std::string &clang);

 private:
  void make_place(const Case &example);
  void enter(const Case &example) const;

  std::filesystem::path folder_, empty_;
  std::unordered_map<std::string, std::size_t> tokens_of_;  // by name and dialect
};

}  // namespace kiln::cases
