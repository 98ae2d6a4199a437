// SPDX-License-Identifier: Apache-2.0
// Joining, numbers as text, comparing versions, patterns, and a sort that is smaller than
// std::sort.
#include "kiln/packs/text.hpp"

#include <algorithm>

namespace kiln::packs {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the next number off `text`, without leading zeros: empty for 0, and after the last number.
std::string_view take_number(std::string_view *text) {
  std::size_t begin = 0;
  while (begin < text->size() && !is_digit((*text)[begin])) ++begin;
  while (begin < text->size() && (*text)[begin] == '0') ++begin;
  std::size_t end = begin;
  while (end < text->size() && is_digit((*text)[end])) ++end;
  const std::string_view number = text->substr(begin, end - begin);
  text->remove_prefix(end);
  return number;
}

}  // namespace

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

std::string decimal(std::uint64_t value) {
  char digits[20];
  char *begin = digits + sizeof(digits);
  do {
    *--begin = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return std::string(begin, digits + sizeof(digits));
}

std::string hex(const void *bytes, std::size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto *byte = static_cast<const std::uint8_t *>(bytes);
  std::string text;
  for (const std::uint8_t *end = byte + count; byte != end; ++byte) {
    text += kDigits[*byte >> 4];
    text += kDigits[*byte & 15];
  }
  return text;
}

std::string hex64(std::uint64_t value) {
  std::uint8_t bytes[sizeof(value)];  // most significant first
  for (std::size_t i = sizeof(value); i-- != 0; value >>= 8) {
    bytes[i] = static_cast<std::uint8_t>(value);
  }
  return hex(bytes, sizeof(bytes));
}

int compare_versions(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::string_view x = take_number(&a);
    const std::string_view y = take_number(&b);
    if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
    if (const int order = x.compare(y); order != 0) return order;
  }
  return 0;
}

// Goes from left to right, and back to the last star after a mismatch. fnmatch() will not do: "["
// is an ordinary character in the names of Intel's devices.
bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || lower(pattern[p]) == lower(text[t])) &&
        pattern[p] != '*') {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

void sort_names(std::vector<std::string_view> *names) {
  std::make_heap(names->begin(), names->end());  // smaller than std::sort
  std::sort_heap(names->begin(), names->end());
}

}  // namespace kiln::packs
