// SPDX-License-Identifier: Apache-2.0
// The text of build options. Pure; safe to use from any thread.
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
  std::size_t begin = 0;  // offsets in the options, of the first byte
  std::size_t end = 0;    // and behind the last
};

// Words between spaces; double quotes keep spaces together. Nothing when a quote is open.
std::optional<std::vector<OptionWord>> option_words(std::string_view options);

// The options of a program, as far as its compiler's preprocessor knows them.
struct IncludeOptions {
  std::vector<std::filesystem::path> folders;  // of -I, in order
  // The same for a driver that takes quotes for a part of the name; empty if there are no quotes.
  std::vector<std::filesystem::path> quoted_folders;
  std::vector<std::string> definitions;  // operands of -D, in order
  // Operands of -U, and of each -D that not every driver reads alike.
  std::vector<std::string> uncertain;
  std::string others;  // all but -I, byte for byte
  // Fails if drivers may divide the options into other words.
  packs::Status doubt;
};

// Fails with the reason if the options may name a file other than by -I, if -D, -U or -I has no
// operand, or if a driver that divides them otherwise would find other -I among them.
packs::Result<IncludeOptions> include_options(std::string_view options);

}  // namespace kiln::source
