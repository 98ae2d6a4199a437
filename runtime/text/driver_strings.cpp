// SPDX-License-Identifier: Apache-2.0
// Finds words, prefixes and numbers in byte strings without regard to the locale.
#include "runtime/text/driver_strings.hpp"

#include <algorithm>
#include <cstring>

#include "kiln/packs/text.hpp"

namespace kiln::runtime {
namespace {

constexpr char kSpaces[] = " \t\r\n\v\f";

using packs::lower;

bool same_letter(char a, char b) { return lower(a) == lower(b); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool starts_with(const std::string &text, const char *prefix) {
  return text.compare(0, std::strlen(prefix), prefix) == 0;
}

bool equals_ignoring_case(const std::string &text, const char *other) {
  return std::equal(text.begin(), text.end(), other, other + std::strlen(other), same_letter);
}

bool contains_ignoring_case(const std::string &text, const char *part) {
  const char *end = part + std::strlen(part);
  return std::search(text.begin(), text.end(), part, end, same_letter) != text.end();
}

std::string first_word(const std::string &text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string::npos) return std::string();
  return text.substr(begin, text.find_first_of(kSpaces, begin) - begin);
}

std::string last_word(const std::string &text) {
  const std::size_t last = text.find_last_not_of(kSpaces);
  if (last == std::string::npos) return std::string();
  const std::size_t before = text.find_last_of(kSpaces, last);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, last + 1 - begin);
}

std::string word_after(const std::string &text, const char *mark) {
  const std::size_t mark_size = std::strlen(mark);
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return std::string();
  std::size_t begin = at + mark_size;
  if (mark_size != 0 && mark[mark_size - 1] == ' ') {
    begin = text.find_first_not_of(kSpaces, begin);
    if (begin == std::string::npos) return std::string();
  }
  return text.substr(begin, text.find_first_of(kSpaces, begin) - begin);
}

std::string until(const std::string &text, char end) { return text.substr(0, text.find(end)); }

std::size_t count_digits(const std::string &text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - begin;
}

std::size_t utf8_prefix(const std::string &text, std::size_t limit) {
  if (text.size() <= limit) return text.size();
  std::size_t size = limit;
  while (size > 0 && limit - size < 3 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) {
    --size;
  }
  return size;
}

bool is_hexadecimal(const std::string &text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
  });
}

}  // namespace kiln::runtime
