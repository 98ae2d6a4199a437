// SPDX-License-Identifier: Apache-2.0
// The text of build options. Pure; safe to use from any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::source {

struct OptionWord {
  std::string text;       // without quotes
  std::size_t begin = 0;  // offsets in the options, of the first byte
  std::size_t end = 0;    // and behind the last
};

// Words between spaces; double quotes keep spaces together. Nothing when a quote is open.
std::optional<std::vector<OptionWord>> option_words(std::string_view options);

// What takes files into a program, and the rest.
struct IncludeOptions {
  std::vector<std::filesystem::path> folders;  // of -I, in order
  std::vector<std::string> definitions;        // of -D, in order
  std::string others;                          // all but -I, byte for byte
};

// Nothing when a quote is open or -I or -D has no operand.
std::optional<IncludeOptions> include_options(std::string_view options);

}  // namespace kiln::source
