// SPDX-License-Identifier: Apache-2.0
// Multiplies the choices of each key, and makes a name of what was chosen; reads the dimension and
// the factor behind an option that merges work-items.
#include "builder/manifest/variant_options.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

constexpr std::size_t kMostChoices = 4096;
constexpr char kValueRule[] = "expected a string without spaces, an integer, true or false";

bool is_space_or_quote(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '"'; }

// What a name may have, and '_' for the rest.
std::string name_part(std::string_view text) {
  std::string part;
  for (const char c : text) part += is_name(std::string(1, c)) || c == '.' ? c : '_';
  return part;
}

OptionChoice choice_of(const TableReader &table, const std::string &key, const toml::node &node) {
  const std::string option = key.starts_with('-') ? key : "-D" + key;
  const std::string word = name_part(key.substr(std::min(key.find_first_not_of('-'), key.size())));
  if (const auto *flag = node.as_boolean()) {
    return flag->get() ? OptionChoice{word, option} : OptionChoice{"no-" + word, ""};
  }
  std::string value;
  if (const auto *integer = node.as_integer()) value = std::to_string(integer->get());
  if (const auto *text = node.as_string()) value = text->get();
  const bool is_text = node.is_integer() || node.is_string();
  const std::string whole = key + value;
  if (!is_text || std::any_of(whole.begin(), whole.end(), is_space_or_quote)) {
    table.fail(position_of(node),
               fmt::format("bad value of {} in {}", in_quotes(key), table.label()), kValueRule);
  }
  return {name_part(value), option + "=" + value};
}

std::vector<OptionChoice> choices_of(const TableReader &table, const std::string &key,
                                     const toml::node &node) {
  const toml::array *array = node.as_array();
  if (array == nullptr) return {{"", choice_of(table, key, node).options}};
  if (array->empty()) {
    table.fail(position_of(node), fmt::format("{} in {} is empty", in_quotes(key), table.label()),
               kValueRule);
  }
  std::vector<OptionChoice> found;
  for (const toml::node &item : *array) found.push_back(choice_of(table, key, item));
  return found;
}

std::string joined(const std::string &first, const char *between, const std::string &second) {
  return first + (first.empty() || second.empty() ? "" : between) + second;
}

constexpr std::string_view kMerging[] = {"-fkernel-vectorizer", "-fkernel-unroller"};

// 0 if it is none that the compiler takes.
std::uint32_t factor_of(std::string_view text) {
  for (const std::uint32_t factor : {2U, 4U, 8U, 16U}) {
    if (text == std::to_string(factor)) return factor;
  }
  return 0;
}

}  // namespace

std::string read_options(const TableReader &table) {
  std::string joined;
  for (const auto &option : table.strings("options")) {
    if (option.value.empty()) {
      table.fail(option.at, fmt::format("empty option in {}", table.label()),
                 "expected a build option such as \"-cl-std=CL1.2\"");
    }
    if (!joined.empty()) joined += ' ';
    joined += option.value;
  }
  return joined;
}

std::vector<OptionChoice> read_option_matrix(const ManifestText &document,
                                             const TableReader &table) {
  const toml::node *options = table.find("options");
  if (options == nullptr || !options->is_table()) return {{"", read_options(table)}};
  const TableReader reader(document, *options->as_table(), "\"options\" of " + table.label());
  std::vector<OptionChoice> all(1);
  for (const auto &[key, node] : *options->as_table()) {
    std::vector<OptionChoice> next;
    for (const OptionChoice &choice : all) {
      for (const OptionChoice &own : choices_of(reader, std::string(key.str()), node)) {
        next.push_back(
            {joined(choice.name, "-", own.name), joined(choice.options, " ", own.options)});
      }
    }
    if (next.size() > kMostChoices) {
      reader.fail(position_of(key), fmt::format("{} has too many combinations", reader.label()),
                  fmt::format("expected at most {}", kMostChoices));
    }
    all = std::move(next);
  }
  std::set<std::string> names;
  for (const OptionChoice &choice : all) {
    if (names.insert(choice.name).second) continue;
    reader.fail(
        reader.position(),
        fmt::format("two combinations of {} are called {}", reader.label(), in_quotes(choice.name)),
        "expected values that differ in letters, digits, '_' or '.'");
  }
  return all;
}

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
