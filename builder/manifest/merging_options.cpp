// SPDX-License-Identifier: Apache-2.0
// Reads the dimension and the factor behind an option.
#include "builder/manifest/merging_options.hpp"

#include <sstream>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

constexpr std::string_view kMerging[] = {"-fkernel-vectorizer", "-fkernel-unroller"};

// 0 if it is none that the compiler takes.
std::uint32_t factor_of(std::string_view text) {
  for (const std::uint32_t factor : {2U, 4U, 8U, 16U}) {
    if (text == std::to_string(factor)) return factor;
  }
  return 0;
}

}  // namespace

Result<MergedItems> merged_items(std::string_view options) {
  MergedItems merged;
  std::istringstream words{std::string(options)};
  for (std::string word; words >> word;) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    if (name != kMerging[0] && name != kMerging[1]) continue;
    const std::string_view value = std::string_view(word).substr(name.size());
    const std::size_t dimension =
        value.size() > 1 ? std::string_view("xyz").find(value[1]) : std::string_view::npos;
    const std::uint32_t factor = value.size() > 2 ? factor_of(value.substr(2)) : 0;
    if (dimension == std::string_view::npos || factor == 0) {
      return Status(Code::bad_input,
                    fmt::format("{} names no dimension and factor\nexpected x, y or z and 2, 4, 8 "
                                "or 16, such as \"{}=x4\"",
                                word, name));
    }
    merged.factor[dimension] *= factor;
    if (merged.option.empty()) merged.option = word;
  }
  return merged;
}

std::string multiple_text(const std::array<std::uint32_t, 3> &factor) {
  std::string text = std::to_string(factor[0]);
  if (factor[1] != 1 || factor[2] != 1) text += "x" + std::to_string(factor[1]);
  if (factor[2] != 1) text += "x" + std::to_string(factor[2]);
  return text;
}

}  // namespace kiln::builder
