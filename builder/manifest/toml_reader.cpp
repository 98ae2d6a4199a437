// SPDX-License-Identifier: Apache-2.0
// Looks values up in toml++'s tables; throws a fault for an unexpected one.
#include "builder/manifest/toml_reader.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/problem/program_shape.hpp"
#include "runtime/text/json.hpp"

namespace kiln::builder {
namespace {

Position start_of(const toml::source_region &source) {
  return {std::max<std::size_t>(1, source.begin.line),
          std::max<std::size_t>(1, source.begin.column)};
}

const char *type_of(const toml::node &node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a floating-point number";
    case toml::node_type::boolean: return "a boolean";
    case toml::node_type::date: return "a date";
    case toml::node_type::time: return "a time";
    case toml::node_type::date_time: return "a date and time";
    case toml::node_type::none: break;
  }
  return "nothing";
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

Position position_of(const toml::node &node) { return start_of(node.source()); }
Position position_of(const toml::key &key) { return start_of(key.source()); }

bool is_name(std::string_view name) {
  return !name.empty() && is_word_character(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_word_character(c) || c == '-' || c == '.'; });
}

void ManifestText::fail(Position position, const std::string &message,
                        const std::string &expected) const {
  throw ManifestFault{source_error(file, text, position, message, expected)};
}

toml::table parse_toml(const ManifestText &document) {
  constexpr const char *kFault = "not valid TOML";
  std::string_view rest = document.text;
  while (!rest.empty()) {
    const std::size_t length = runtime::utf8_length(rest);
    if (length == 0) {
      document.fail(source::position_at(document.text, document.text.size() - rest.size()), kFault,
                    "expected UTF-8");
    }
    rest.remove_prefix(length);
  }
  try {
    return toml::parse(document.text);
  } catch (const toml::parse_error &error) {
    const toml::source_position at = error.source().begin;
    document.fail({at.line, at.column}, kFault, std::string(error.description()));
  }
}

void TableReader::allow_only(const std::vector<std::string> &keys) const {
  const toml::key *unknown = nullptr;
  for (const auto &[key, value] : table_) {
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
    if (unknown == nullptr || key.source().begin < unknown->source().begin) unknown = &key;
  }
  if (unknown == nullptr) return;
  fail(position_of(*unknown),
       fmt::format("unknown key {} in {}", in_quotes(unknown->str()), label_),
       expected_one_of(unknown->str(), keys));
}

std::optional<Located<std::string>> TableReader::string(const std::string &key) const {
  const toml::node *node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  const auto *value = node->as_string();
  if (value == nullptr) wrong_type(in_quotes(key), *node, "a string");
  return Located<std::string>{value->get(), builder::position_of(*node)};
}

std::optional<std::string> TableReader::word(const std::string &key, const std::string &what,
                                             const std::vector<std::string> &words) const {
  const auto found = string(key);
  if (!found) return std::nullopt;
  if (std::find(words.begin(), words.end(), found->value) == words.end()) {
    fail(found->at, fmt::format("unknown {} {} in {}", what, in_quotes(found->value), label_),
         expected_one_of(found->value, words));
  }
  return found->value;
}

std::optional<Located<std::string>> TableReader::name(const std::string &key) const {
  const auto found = string(key);
  if (found && !is_name(found->value)) {
    fail(found->at, fmt::format("bad {} {} in {}", key, in_quotes(found->value), label_),
         kNameRule);
  }
  return found;
}

std::optional<std::int64_t> TableReader::integer(const std::string &key, std::int64_t low,
                                                 std::int64_t high) const {
  const toml::node *node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  return bounded(in_quotes(key), *node, low, high);
}

std::vector<Located<std::string>> TableReader::strings(const std::string &key) const {
  const toml::array *items = array(key, "an array of strings");
  std::vector<Located<std::string>> found;
  if (items == nullptr) return found;
  for (const toml::node &item : *items) {
    const auto *value = item.as_string();
    if (value == nullptr) {
      wrong_type(fmt::format("item {} of {}", found.size() + 1, in_quotes(key)), item, "a string");
    }
    found.push_back({value->get(), builder::position_of(item)});
  }
  return found;
}

std::optional<std::array<std::uint32_t, 2>> TableReader::pair(const std::string &key,
                                                              std::int64_t high) const {
  const std::string expected = fmt::format("an array of two integers, each 1 to {}", high);
  const toml::array *items = array(key, expected);
  if (items == nullptr) return std::nullopt;
  if (items->size() != 2) {
    fail(builder::position_of(*items),
         fmt::format("{} in {} has {} items", in_quotes(key), label_, items->size()),
         "expected " + expected);
  }
  return std::array{bounded("item 1 of " + in_quotes(key), (*items)[0], 1, high),
                    bounded("item 2 of " + in_quotes(key), (*items)[1], 1, high)};
}

std::optional<bool> TableReader::boolean(const std::string &key) const {
  const toml::node *node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  const auto *value = node->as_boolean();
  if (value == nullptr) wrong_type(in_quotes(key), *node, "true or false");
  return value->get();
}

double TableReader::number(const std::string &what, const toml::node &node,
                           const Bounds &bounds) const {
  const auto value = bounds.whole && !node.is_integer() ? std::nullopt : node.value<double>();
  if (!value) wrong_type(what, node, bounds.whole ? "an integer" : "a number");
  if (!(*value >= bounds.low && *value <= bounds.high)) {
    fail(builder::position_of(node), fmt::format("{} in {} is {}", what, label_, *value),
         bounds.whole ? fmt::format("expected {:.0f} to {:.0f}", bounds.low, bounds.high)
                      : fmt::format("expected {:g} to {:g}", bounds.low, bounds.high));
  }
  return *value;
}

std::vector<double> TableReader::numbers(const std::string &key, std::size_t count,
                                         const Bounds &bounds) const {
  const toml::node *node = table_.get(key);
  if (node == nullptr) return {};
  if (count == 1) return {number(in_quotes(key), *node, bounds)};
  const std::string expected = fmt::format("an array of {} numbers", count);
  const toml::array *items = array(key, expected);
  if (items->size() != count) {
    fail(builder::position_of(*items),
         fmt::format("{} in {} has {} items", in_quotes(key), label_, items->size()),
         "expected " + expected);
  }
  std::vector<double> values;
  for (const toml::node &item : *items) {
    values.push_back(
        number(fmt::format("item {} of {}", values.size() + 1, in_quotes(key)), item, bounds));
  }
  return values;
}

std::string TableReader::terms(const std::string &key, std::size_t most) const {
  std::string joined;
  const auto items = strings(key);
  if (items.size() > most) {
    fail(items[most].at, fmt::format("{} in {} has {} items", in_quotes(key), label_, items.size()),
         fmt::format("expected 1 to {}", most));
  }
  for (const auto &item : items) {
    if (!parse_term(item.value)) {
      fail(item.at, fmt::format("bad term {} in {}", in_quotes(item.value), label_), kTermRule);
    }
    if (!joined.empty()) joined += ' ';
    joined += item.value;
  }
  return joined;
}

const toml::array *TableReader::array(const std::string &key, const std::string &expected) const {
  const toml::node *node = table_.get(key);
  if (node != nullptr && !node->is_array()) wrong_type(in_quotes(key), *node, expected);
  return node == nullptr ? nullptr : node->as_array();
}

const toml::table *TableReader::table(const std::string &key, const std::string &expected) const {
  const toml::node *node = table_.get(key);
  if (node != nullptr && !node->is_table()) wrong_type(in_quotes(key), *node, expected);
  return node == nullptr ? nullptr : node->as_table();
}

std::optional<std::filesystem::path> TableReader::file(const std::string &key) const {
  const auto given = string(key);
  if (!given) return std::nullopt;
  const std::filesystem::path path = resolve(*given);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    fail(given->at, fmt::format("{} {} in {} is not a file", key, in_quotes(given->value), label_),
         "expected a file at " + path.generic_string());
  }
  return path;
}

std::filesystem::path TableReader::folder(const Located<std::string> &given) const {
  const std::filesystem::path path = resolve(given);
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    fail(given.at, fmt::format("{} in {} is not a folder", in_quotes(given.value), label_),
         "expected a folder at " + path.generic_string());
  }
  return path;
}

void TableReader::missing(const std::string &key, const std::string &expected) const {
  fail(position(), fmt::format("missing key {} in {}", in_quotes(key), label_), expected);
}

void TableReader::wrong_type(const std::string &what, const toml::node &node,
                             const std::string &expected) const {
  fail(builder::position_of(node), fmt::format("{} in {} is {}", what, label_, type_of(node)),
       "expected " + expected);
}

std::uint32_t TableReader::bounded(const std::string &what, const toml::node &node,
                                   std::int64_t low, std::int64_t high) const {
  const auto *value = node.as_integer();
  if (value == nullptr) wrong_type(what, node, "an integer");
  if (value->get() < low || value->get() > high) {
    fail(builder::position_of(node), fmt::format("{} in {} is {}", what, label_, value->get()),
         low == high ? fmt::format("expected {}", low)
                     : fmt::format("expected {} to {}", low, high));
  }
  return static_cast<std::uint32_t>(value->get());
}

std::filesystem::path TableReader::resolve(const Located<std::string> &given) const {
  const auto [start, rest] = root_and_path(given.value);
  const std::filesystem::path path(rest);
  if (given.value.empty() || path.is_absolute()) {
    fail(given.at,
         fmt::format("path {} in {} is {}", in_quotes(given.value), label_,
                     given.value.empty() ? "empty" : "absolute"),
         "expected a path relative to the manifest's folder, or NAME:PATH in one of [roots]");
  }
  if (start.empty()) return below_manifest(path);
  const std::string root = start.substr(0, start.size() - 1);
  const auto found = document_.roots.find(root);
  if (found == document_.roots.end()) {
    std::vector<std::string> names;
    for (const auto &[name, folder] : document_.roots) names.push_back(name);
    fail(given.at, fmt::format("path {} in {} has an unknown root", in_quotes(given.value), label_),
         names.empty() ? fmt::format("expected --root {}=DIR, or {} in [roots]", root, root)
                       : expected_one_of(root, names));
  }
  document_.used_roots.insert(root);
  return normal_path(found->second / path);
}

std::pair<std::string, std::string> root_and_path(const std::string &path) {
  const std::size_t colon = path.find(':');
  const bool has_root = colon != std::string::npos && is_name(path.substr(0, colon));
  const std::size_t length = has_root ? colon + 1 : 0;
  return {path.substr(0, length), path.substr(length)};
}

}  // namespace kiln::builder
