// SPDX-License-Identifier: Apache-2.0
// Compares words by edit distance.
#include "builder/base/names.hpp"

#include <algorithm>

#include "kiln/packs/text.hpp"

namespace kiln::builder {

namespace {

constexpr std::size_t kLongestWord = 128;

bool same(char a, char b) { return packs::lower(a) == packs::lower(b); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::optional<std::string> suggest(std::string_view word,
                                   const std::vector<std::string> &candidates) {
  if (word.size() > kLongestWord) return std::nullopt;
  std::size_t nearest = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::optional<std::string> found;
  for (const std::string &candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < nearest && distance < candidate.size()) {
      nearest = distance;
      found = candidate;
    }
  }
  return found;
}

std::string expected_one_of(std::string_view word, const std::vector<std::string> &candidates) {
  std::string text = "expected one of: ";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i > 0) text += ", ";
    text += candidates[i];
  }
  if (const auto nearest = suggest(word, candidates)) {
    text += "; did you mean \"" + *nearest + "\"?";
  }
  return text;
}

}  // namespace kiln::builder
