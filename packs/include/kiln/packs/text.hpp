// SPDX-License-Identifier: Apache-2.0
// Text functions that are compiled once, where code size counts: `a + b + c` and a sort are each
// many times the code of a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::packs {

// Joins the parts to one string.
std::string concat(std::initializer_list<std::string_view> parts);

std::string decimal(std::uint64_t value);

// Returns lower-case hexadecimal: two digits for each byte, or the 16 digits of a number.
std::string hex(const void *bytes, std::size_t count);
std::string hex64(std::uint64_t value);

// Returns an ASCII letter in lower case, and any other character as it is. The C library's tolower
// follows the locale.
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns whether the word is one of these.
template <std::size_t kCount>
bool is_among(std::string_view word, const std::string_view (&words)[kCount]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Compares the numbers in two versions one after the other: "580.9" comes before "580.65.06".
// Ignores the text between numbers. Returns a negative number, zero or a positive number.
int compare_versions(std::string_view a, std::string_view b);

// Matches the whole text against a pattern with * and ?, ignoring ASCII case.
bool glob_match(std::string_view pattern, std::string_view text);

// Sorts by bytes.
void sort_names(std::vector<std::string_view> *names);

}  // namespace kiln::packs
