// SPDX-License-Identifier: Apache-2.0
// What a driver's compiler, which is Clang in all drivers that are tested, makes of a program
// before it parses it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cases {

// How drivers cut options into words, and where they look for what the source itself includes.
enum class Dialect : std::uint8_t {
  pocl,     // at blanks, quotes stay; the source lies elsewhere, the current folder comes first
  rusticl,  // at spaces and double quotes; the source lies in the current folder
  quoting,  // at blanks, quotes of both kinds join and are removed
};

std::vector<std::string> words_of(std::string_view options, Dialect dialect);

// The arguments that Clang gets from a driver of this kind, but for its input.
std::vector<std::string> arguments_of(std::string_view options, Dialect dialect);

struct Preprocessed {
  bool ok = false;         // Clang reported no error
  bool uses_time = false;  // the tokens have __DATE__, __TIME__ or __TIMESTAMP__
  std::string tokens;      // one a line, with the file and line of a token that asks for it
  std::string error;       // the first one; without effect on ==

  bool operator==(const Preprocessed &other) const {
    return ok == other.ok && (!ok || tokens == other.tokens);
  }
};

// Preprocesses a text in the current folder.
Preprocessed preprocess(const std::string &text, std::string_view options, Dialect dialect);

}  // namespace kiln::cases
