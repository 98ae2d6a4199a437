// SPDX-License-Identifier: Apache-2.0
// The text of build options. Pure and thread-safe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/packs/status.hpp"

namespace kiln::source {

struct OptionWord {
  std::string text;       // without quotes
  std::size_t begin = 0;  // offset of the first byte in the options
  std::size_t end = 0;    // offset past the last byte
};

// Splits at spaces; double quotes keep spaces in a word. Returns nothing if a quote stays open.
std::optional<std::vector<OptionWord>> option_words(std::string_view options);

// The options of a program, as its compiler's preprocessor uses them.
struct IncludeOptions {
  std::vector<std::filesystem::path> folders;  // from -I, in order
  // The same folders for a driver that reads quotes as part of the name; empty if there are none.
  std::vector<std::filesystem::path> quoted_folders;
  std::vector<std::filesystem::path> cut_folders;  // the same for one that divides at each blank
  std::vector<std::string> definitions;            // operands of -D, in order
  // Operands of -U, and of each -D that drivers may read differently.
  std::vector<std::string> uncertain;
  std::string others;        // all but -I, byte for byte
  std::string only_folders;  // -I alone, each as it was written
  // Fails if drivers may split the options into other words.
  packs::Status doubt;
};

// Fails with the reason if an option is not of a list of known ones, if -D, -U or -I has no
// operand, or if a driver that splits them differently would find another -I.
packs::Result<IncludeOptions> include_options(std::string_view options);

// Returns whether every option is -D or -U, which only a preprocessor reads, however a driver
// splits the options.
bool are_macros(std::string_view options);

}  // namespace kiln::source
