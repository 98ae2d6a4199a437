// SPDX-License-Identifier: Apache-2.0
// Escapes a string; bytes that are not UTF-8 become the characters of their numbers.
#include "runtime/text/json.hpp"

#include <cstdio>

namespace kiln::runtime {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  std::size_t length = first < 0x80   ? 1
                       : first < 0xc2 ? 0
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                       : first < 0xf5 ? 4
                                      : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (length == 1) return 1;
  const unsigned char second = byte(1);
  const bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                   (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return bad ? 0 : length;
}

void append_json(std::string_view text, std::string *out) {
  *out += '"';
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = utf8_length(text);
    if (first == '"' || first == '\\') {
      *out += '\\';
      *out += text[0];
    } else if (first == '\n') {
      *out += "\\n";
    } else if (first < 0x20 || length == 0) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", first);
      *out += escape;
    } else {
      out->append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  *out += '"';
}

}  // namespace kiln::runtime
