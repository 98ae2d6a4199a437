// SPDX-License-Identifier: Apache-2.0
// Extracts parts of driver strings. Works on bytes, not characters: accepts any bytes, NUL
// included. Pure functions, safe from any thread. A "word" is a run without white space.
#pragma once

#include <cstddef>
#include <string>

namespace kiln::runtime {

bool starts_with(const std::string &text, const char *prefix);

// Compare without regard to the case of ASCII letters.
bool equals_ignoring_case(const std::string &text, const char *other);
bool contains_ignoring_case(const std::string &text, const char *part);

// Return the first and the last word; empty if the text has no word.
std::string first_word(const std::string &text);
std::string last_word(const std::string &text);

// Returns the text between the first `mark` and the next white space; empty without a mark. A mark
// that ends with a space takes any further white space with it.
std::string word_after(const std::string &text, const char *mark);

// Returns the text before the first `end`, or all of it.
std::string until(const std::string &text, char end);

// Returns the number of decimal digits from `begin`.
std::size_t count_digits(const std::string &text, std::size_t begin);

// Returns the length of the longest start of `text` that is at most `limit` bytes and does not end
// inside a UTF-8 sequence.
std::size_t utf8_prefix(const std::string &text, std::size_t limit);

// Returns whether the text is not empty and has only hexadecimal digits.
bool is_hexadecimal(const std::string &text);

}  // namespace kiln::runtime
