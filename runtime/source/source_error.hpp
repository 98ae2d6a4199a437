// SPDX-License-Identifier: Apache-2.0
// The text of a fault in a file that the author wrote: place, line, caret, expectation. Pure
// functions; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln::source {

// Both count from 1. A column counts UTF-8 code points; a tab counts as one.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

// Returns "file:line:column: error: message", the line of `text`, a caret under the column, then
// `expected` unless it is empty; each ends with a newline. If the position is past the end of the
// text or of the line, the caret is after the last character.
std::string source_error(std::string_view file, std::string_view text, Position position,
                         std::string_view message, std::string_view expected);

// Returns the text of a fault of a whole file: "file: error: message" and a newline.
std::string file_error(std::string_view file, std::string_view message);

// Returns `word` in double quotes, with control characters as \xNN, so that it stays on one line.
std::string in_quotes(std::string_view word);

// Returns the position of the byte at `offset`.
Position position_at(std::string_view text, std::size_t offset);

}  // namespace kiln::source
