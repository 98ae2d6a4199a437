// SPDX-License-Identifier: Apache-2.0
// Reads members of JSON in place: millions of lines are read for a few of their members.
// nlohmann's parser alone takes 0.8 s for a million lines of an inventory; the whole report takes
// 0.9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::builder {

// Where a JSON value ends. If the text ends before the value does, it is unfinished.
struct JsonEnd {
  enum State : std::uint8_t { complete, unfinished, broken } state = complete;
  std::size_t at = 0;  // after a complete value
};

// Finds the end of the value that begins at `at`. Checks the value by JSON's grammar, but not that
// its strings are UTF-8; values within more than 64 others are broken.
JsonEnd end_of_json(std::string_view text, std::size_t at);

// Skips blanks and line ends.
std::size_t skip_blanks(std::string_view text, std::size_t at);

// Goes through the members of an object, or the elements of an array, which end_of_json() found to
// be complete.
class JsonItems {
 public:
  explicit JsonItems(std::string_view text) : text_(text) {}
  // Goes to the next item; false if there is none.
  bool next();

  std::string_view name;   // of a member, as written between its quotes
  std::string_view value;  // as written

 private:
  std::string_view text_;
  std::size_t at_ = 1;
};

// Returns the string that is written as `value`; nothing if the value is no string.
std::optional<std::string> json_string(std::string_view value);
// Returns the whole number; nothing for any other value, and for numbers from 2^53 on.
std::optional<std::uint64_t> json_count(std::string_view value);
// Returns the number; nothing for any other value.
std::optional<double> json_number(std::string_view value);

}  // namespace kiln::builder
