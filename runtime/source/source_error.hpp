// SPDX-License-Identifier: Apache-2.0
// The text of a fault in a file that the author wrote: place, line, caret, expectation.
// Pure functions; safe to use from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln::source {

// Both count from 1. A column counts code points of UTF-8, a tab as one.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

// "file:line:column: error: message", the line as it stands in `text`, a caret under the
// column, then `expected` unless it is empty; each ends with a newline. A position
// behind the end of the text or of the line puts the caret behind the last character.
std::string source_error(std::string_view file, std::string_view text, Position position,
                         std::string_view message, std::string_view expected);

// A fault of a whole file: "file: error: message" and a newline.
std::string file_error(std::string_view file, std::string_view message);

// `word` in double quotes, with control characters as \xNN so that it stays on its line.
std::string in_quotes(std::string_view word);

// The position of the byte at `offset`.
Position position_at(std::string_view text, std::size_t offset);

}  // namespace kiln::source
