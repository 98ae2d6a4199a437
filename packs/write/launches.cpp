// SPDX-License-Identifier: Apache-2.0
// Unites the recorded launches of two packs: one line of each kind stays, whatever the order.
#include <algorithm>
#include <map>
#include <set>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {
namespace {

// Returns the kind of a launch, as FORMAT.md calls it.
std::string_view kind_of(std::string_view line) {
  const bool sized = line.find("\"local\":[0,0,0]") == std::string_view::npos;
  return line.substr(0, line.find(sized ? ",\"global\":" : ",\"offset\":"));
}

void add_lines(std::string_view text, std::map<std::string_view, std::string_view> *kinds) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    const auto [place, fresh] = kinds->emplace(kind_of(line), line);
    if (!fresh) place->second = std::min(place->second, line);
    start = end + 1;
  }
}

}  // namespace

std::string united_launches(std::string_view a, std::string_view b) {
  std::map<std::string_view, std::string_view> kinds;
  add_lines(a, &kinds);
  add_lines(b, &kinds);
  std::set<std::string_view> lines;
  for (const auto &[kind, line] : kinds) lines.insert(line);
  std::string text;
  std::size_t left = kMaxLaunches;
  for (auto line = lines.begin(); line != lines.end() && left > 0; ++line, --left) {
    text.append(*line).append("\n");
  }
  return text;
}

}  // namespace kiln::packs
