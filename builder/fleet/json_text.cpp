// SPDX-License-Identifier: Apache-2.0
// A recursive descent through the grammar that keeps nothing.
#include "builder/fleet/json_text.hpp"

#include <cctype>
#include <charconv>

#include <nlohmann/json.hpp>

namespace kiln::builder {
namespace {

constexpr unsigned kDeepest = 64;

constexpr JsonEnd kUnfinished{JsonEnd::unfinished, 0};
constexpr JsonEnd kBroken{JsonEnd::broken, 0};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `at` is the opening quote's place. A line end within a string is broken.
JsonEnd end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') return {JsonEnd::complete, at + 1};
    if (static_cast<unsigned char>(c) < ' ') return kBroken;
    if (c != '\\') continue;
    if (++at == text.size()) break;
    if (std::string_view("\"\\/bfnrtu").find(text[at]) == std::string_view::npos) return kBroken;
    for (int digits = text[at] == 'u' ? 4 : 0; digits > 0; --digits) {
      if (++at == text.size()) return kUnfinished;
      if (std::isxdigit(static_cast<unsigned char>(text[at])) == 0) return kBroken;
    }
  }
  return kUnfinished;
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

JsonEnd end_of_number(std::string_view text, std::size_t at) {
  const auto is = [&](char c) { return at < text.size() && text[at] == c; };
  if (is('-')) ++at;
  std::size_t digits = at;
  at = is('0') ? at + 1 : skip_digits(text, at);
  if (at == digits) return kBroken;
  if (is('.')) {
    digits = at + 1;
    if ((at = skip_digits(text, digits)) == digits) return kBroken;
  }
  if (is('e') || is('E')) {
    ++at;
    if (is('+') || is('-')) ++at;
    digits = at;
    if ((at = skip_digits(text, digits)) == digits) return kBroken;
  }
  return {JsonEnd::complete, at};
}

JsonEnd end_of_word(std::string_view text, std::size_t at) {
  for (const std::string_view word : {"true", "false", "null"}) {
    if (text.substr(at, word.size()) == word) return {JsonEnd::complete, at + word.size()};
  }
  return kBroken;
}

JsonEnd end_of_value(std::string_view text, std::size_t at, unsigned depth);

// Expects `c` after blanks.
JsonEnd after(char c, std::string_view text, std::size_t at) {
  at = skip_blanks(text, at);
  if (at == text.size()) return kUnfinished;
  return text[at] == c ? JsonEnd{JsonEnd::complete, at + 1} : kBroken;
}

JsonEnd end_of_items(std::string_view text, std::size_t at, unsigned depth) {
  const bool members = text[at] == '{';
  const char last = members ? '}' : ']';
  at = skip_blanks(text, at + 1);
  if (at < text.size() && text[at] == last) return {JsonEnd::complete, at + 1};
  for (;;) {
    JsonEnd end{JsonEnd::complete, skip_blanks(text, at)};
    if (members) {
      if (end.at == text.size()) return kUnfinished;
      if (text[end.at] != '"') return kBroken;
      end = end_of_string(text, end.at);
      if (end.state == JsonEnd::complete) end = after(':', text, end.at);
    }
    if (end.state == JsonEnd::complete) end = end_of_value(text, end.at, depth);
    if (end.state != JsonEnd::complete) return end;
    at = skip_blanks(text, end.at);
    if (at == text.size()) return kUnfinished;
    if (text[at] == last) return {JsonEnd::complete, at + 1};
    if (text[at] != ',') return kBroken;
    ++at;
  }
}

JsonEnd end_of_value(std::string_view text, std::size_t at, unsigned depth) {
  at = skip_blanks(text, at);
  if (at == text.size()) return kUnfinished;
  const char c = text[at];
  if (c == '"') return end_of_string(text, at);
  if (c == '{' || c == '[') return depth == 0 ? kBroken : end_of_items(text, at, depth - 1);
  return c == '-' || is_digit(c) ? end_of_number(text, at) : end_of_word(text, at);
}

}  // namespace

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

JsonEnd end_of_json(std::string_view text, std::size_t at) {
  return end_of_value(text, at, kDeepest);
}

bool JsonItems::next() {
  at_ = skip_blanks(text_, at_);
  if (at_ < text_.size() && text_[at_] == ',') at_ = skip_blanks(text_, at_ + 1);
  if (at_ + 1 >= text_.size()) return false;  // the last byte closes the value
  if (text_[0] == '{') {
    const std::size_t end = end_of_string(text_, at_).at;
    name = text_.substr(at_ + 1, end - at_ - 2);
    at_ = skip_blanks(text_, skip_blanks(text_, end) + 1);
  }
  const std::size_t end = end_of_json(text_, at_).at;
  value = text_.substr(at_, end - at_);
  at_ = end;
  return true;
}

std::optional<std::string> json_string(std::string_view value) {
  if (value.size() < 2 || value[0] != '"') return std::nullopt;
  if (value.find('\\') == std::string_view::npos) {
    return std::string(value.substr(1, value.size() - 2));
  }
  const auto parsed = nlohmann::json::parse(value, nullptr, false);
  return parsed.is_string() ? std::optional(parsed.get<std::string>()) : std::nullopt;
}

std::optional<std::uint64_t> json_count(std::string_view value) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 53;  // doubles hold what is below
  std::uint64_t number = 0;
  const char *const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number >= kLimit) return std::nullopt;
  return number;
}

std::optional<double> json_number(std::string_view value) {
  double number = 0;
  const char *const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace kiln::builder
