// SPDX-License-Identifier: Apache-2.0
// A line of an inventory or a report, against nlohmann's parser.
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "builder/fleet/json_text.hpp"
#include "tests/fuzz/targets/target.hpp"

using namespace kiln::builder;
using nlohmann::json;

namespace {

void read_items(std::string_view value) {
  if (value[0] != '{' && value[0] != '[') {
    (void)json_string(value);
    (void)json_count(value);
    (void)json_number(value);
    return;
  }
  std::size_t items = 0;
  for (JsonItems each(value); each.next(); ++items) read_items(each.value);
  if (json::parse(value, nullptr, false).is_array() &&
      json::parse(value, nullptr, false).size() != items) {
    std::abort();
  }
}

// Whether both must agree: they do not on UTF-8, on halves of surrogate pairs, on depth, on NUL,
// which ends a text for nlohmann, and on numbers that no double holds.
bool is_comparable(std::string_view text) {
  std::size_t brackets = 0;
  char before = ' ';
  for (const char c : text) {
    const bool is_exponent = (c == 'e' || c == 'E') && before >= '0' && before <= '9';
    if (c == '\0' || static_cast<unsigned char>(c) >= 0x80 || is_exponent) return false;
    brackets += c == '[' || c == '{' ? 1 : 0;
    before = c;
  }
  return brackets <= 64 && text.size() <= 300 && text.find("\\u") == std::string_view::npos;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const JsonEnd end = end_of_json(text, 0);
  const bool is_whole = end.state == JsonEnd::complete && skip_blanks(text, end.at) == text.size();
  if (is_comparable(text)) {
    if (is_whole != json::accept(text)) std::abort();
    const std::size_t begin = skip_blanks(text, 0);
    if (is_whole) read_items(text.substr(begin, end.at - begin));
  }
  if (end.state != JsonEnd::complete) return 0;
  if (end_of_json(text.substr(0, end.at), 0).at != end.at) std::abort();
  return 0;
}
