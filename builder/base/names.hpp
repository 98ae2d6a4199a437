// SPDX-License-Identifier: Apache-2.0
// Matches names that people type: against patterns, and to suggest the nearest known name. Pure
// functions; safe to use from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/packs/text.hpp"

namespace kiln::builder {

using packs::glob_match;

// Returns how many insertions, deletions, replacements and swaps of neighbours turn one word into
// the other, ignoring ASCII case. Time and memory grow with the product of the sizes.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the candidate nearest to `word`; the first if several are equally near. Returns nothing
// if no candidate is within a third of the word's length (at least 1), or if `word` is longer than
// 128 bytes.
std::optional<std::string> suggest(std::string_view word,
                                   const std::vector<std::string> &candidates);

// Returns "expected one of: a, b, c", with `; did you mean "b"?` if suggest() finds a candidate.
std::string expected_one_of(std::string_view word, const std::vector<std::string> &candidates);

}  // namespace kiln::builder
