// SPDX-License-Identifier: Apache-2.0
// Splits the text at its colons, and checks the name of a file or function.
#include "builder/problem/reference_spec.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace kiln::builder {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t colon = text.find(':');
    parts.emplace_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

bool stays_below(const std::string &name) {
  const std::filesystem::path path(name);
  return path.is_relative() && path.has_filename() &&
         std::none_of(path.begin(), path.end(), [](const auto &part) { return part == ".."; });
}

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

std::optional<ReferenceSpec> parse_reference(std::string_view text) {
  using Kind = ReferenceSpec::Kind;
  const std::vector<std::string> parts = split(text);
  if (std::any_of(parts.begin(), parts.end(), [](const auto &part) { return part.empty(); })) {
    return std::nullopt;
  }
  if (parts[0] == "variant" && parts.size() == 2)
    return ReferenceSpec{Kind::variant, parts[1], {}, {}, {}};
  if (parts[0] == "library" && parts.size() == 3) {
    if (parts[1].find('/') != std::string::npos || !is_identifier(parts[2])) return std::nullopt;
    return ReferenceSpec{Kind::library, parts[1], {}, {}, parts[2]};
  }
  if (parts[0] != "file" || parts.size() < 3 || parts.size() > 4) return std::nullopt;
  const auto size = parse_size(parts[2]);
  const std::string input = parts.size() == 4 ? parts[3] : "";
  if (!size || !stays_below(parts[1]) || (!input.empty() && !stays_below(input))) {
    return std::nullopt;
  }
  return ReferenceSpec{Kind::file, parts[1], *size, input, {}};
}

}  // namespace kiln::builder
