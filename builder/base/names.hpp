// SPDX-License-Identifier: Apache-2.0
// Names that people give: patterns of them, and the known name nearest to an unknown one. Pure
// functions; safe to use from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::builder {

// Whole-text match with * and ?, without regard to ASCII case.
bool glob_match(const std::string &pattern, const std::string &text);

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the
// other, without regard to ASCII case. Time and memory grow with the product of the sizes.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, the first of several that are equally near. Nothing when
// none is within a third of the word's length (at least 1), or when `word` is longer than
// 128 bytes.
std::optional<std::string> suggest(std::string_view word,
                                   const std::vector<std::string> &candidates);

// "expected one of: a, b, c", and `; did you mean "b"?` where suggest() finds one.
std::string expected_one_of(std::string_view word, const std::vector<std::string> &candidates);

}  // namespace kiln::builder
