// SPDX-License-Identifier: Apache-2.0
// Replaces each absolute path, since a driver may name different temporary files each time.
#include "builder/base/build_log.hpp"

#include <algorithm>
#include <string_view>

namespace kiln::builder {

std::string without_paths(const std::string &log) {
  const std::string_view ends = " \t\r\n:;,'\"()[]<>";
  std::string kept;
  for (std::size_t i = 0; i < log.size();) {
    const bool starts = i == 0 || ends.find(log[i - 1]) != std::string_view::npos;
    const bool path = starts && log[i] == '/' && i + 1 < log.size() && log[i + 1] != '/' &&
                      log[i + 1] != '*' && ends.find(log[i + 1]) == std::string_view::npos;
    if (!path) {
      kept += log[i++];
      continue;
    }
    kept += "<path>";
    i = std::min(log.find_first_of(ends, i), log.size());
  }
  return kept;
}

}  // namespace kiln::builder
