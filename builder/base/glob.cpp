// SPDX-License-Identifier: Apache-2.0
// Matches patterns from left to right, and goes back to the last star where a match fails.
#include "builder/base/glob.hpp"

#include "kiln/packs/text.hpp"

namespace kiln::builder {

// fnmatch() will not do: "[" is an ordinary character in the names of Intel's devices.
bool glob_match(const std::string &pattern, const std::string &text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() &&
        (pattern[p] == '?' || packs::lower(pattern[p]) == packs::lower(text[t])) &&
        pattern[p] != '*') {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace kiln::builder
