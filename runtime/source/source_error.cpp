// SPDX-License-Identifier: Apache-2.0
// Cuts out the line, and counts code points to place the caret.
#include "runtime/source/source_error.hpp"

#include <algorithm>

#include "kiln/packs/text.hpp"

namespace kiln::source {
namespace {

using packs::concat;
using packs::decimal;

std::string_view line_at(std::string_view text, std::size_t line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }

std::string caret_under(std::string_view line, std::size_t column) {
  std::string pad;
  std::size_t at = 0;
  for (const char c : line) {
    if (!starts_code_point(c)) continue;
    if (++at >= column) break;
    pad += c == '\t' ? '\t' : ' ';
  }
  return pad + "^";
}

}  // namespace

std::string source_error(std::string_view file, std::string_view text, Position position,
                         std::string_view message, std::string_view expected) {
  const std::string_view line = line_at(text, position.line);
  return concat({file, ":", decimal(position.line), ":", decimal(position.column),
                 ": error: ", message, "\n", line, "\n", caret_under(line, position.column), "\n",
                 expected, expected.empty() ? "" : "\n"});
}

std::string file_error(std::string_view file, std::string_view message) {
  return concat({file, ": error: ", message, "\n"});
}

std::string in_quotes(std::string_view word) {
  std::string text = "\"";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      text += "\\x" + packs::hex(&byte, 1);
    } else {
      text += c;
    }
  }
  return text + "\"";
}

Position position_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  Position position;
  for (const char c : before) {
    if (c == '\n') {
      ++position.line;
      position.column = 1;
    } else if (starts_code_point(c)) {
      ++position.column;
    }
  }
  return position;
}

}  // namespace kiln::source
