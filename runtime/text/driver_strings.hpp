// SPDX-License-Identifier: Apache-2.0
// Small cuts from the strings of drivers. Bytes, not characters: any bytes are accepted,
// NUL included. Pure functions, safe from any thread. "Word": a run without white space.
#pragma once

#include <cstddef>
#include <string>

namespace kiln::runtime {

bool starts_with(const std::string &text, const char *prefix);

// Without regard to the case of ASCII letters.
bool equals_ignoring_case(const std::string &text, const char *other);
bool contains_ignoring_case(const std::string &text, const char *part);

// Empty if the text has no word.
std::string first_word(const std::string &text);
std::string last_word(const std::string &text);

// The text between the first `mark` and the next white space; empty without a mark.
// A mark that ends with a space takes any further white space with it.
std::string word_after(const std::string &text, const char *mark);

// The text before the first `end`, or all of it.
std::string until(const std::string &text, char end);

// The number of decimal digits from `begin`.
std::size_t count_digits(const std::string &text, std::size_t begin);

// Length of the longest start of `text` that is at most `limit` bytes and does not end
// inside a UTF-8 sequence.
std::size_t utf8_prefix(const std::string &text, std::size_t limit);

// Whether there is at least one character, and all are hexadecimal digits.
bool is_hexadecimal(const std::string &text);

}  // namespace kiln::runtime
