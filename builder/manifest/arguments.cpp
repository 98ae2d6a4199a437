// SPDX-License-Identifier: Apache-2.0
// The keys of an argument's table, and which of them each role may have.
#include "builder/manifest/arguments.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "builder/base/suggest.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kMaxArguments = 64;
constexpr std::int64_t kMaxChannels = 4;
constexpr std::int64_t kMaxComponents = 16;

std::vector<std::string> sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  return words;
}

// One of the names of an enum, which stand in its order; errors list them sorted.
template <typename Enum, std::size_t kCount>
std::optional<Enum> read_enum(const TableReader &table, const std::string &key,
                              const char *const (&names)[kCount]) {
  const auto word = table.word(key, key, sorted({names, names + kCount}));
  if (!word) return std::nullopt;
  return static_cast<Enum>(std::find(names, names + kCount, *word) - names);
}

Role role_of(const TableReader &table) {
  const auto role = read_enum<Role>(table, "role", packs::kRoleNames);
  if (role) return *role;
  table.missing(
      "role",
      expected_one_of("", sorted({std::begin(packs::kRoleNames), std::end(packs::kRoleNames)})));
}

std::vector<std::string> keys_of(Role role) {
  switch (role) {
    case Role::input:
    case Role::scratch: return {"channels", "extent", "name", "role", "storage", "type"};
    case Role::output:
      return {"accumulates", "channels", "extent", "name", "role", "storage", "type"};
    case Role::parameter: return {"channels", "name", "role", "type", "value"};
    case Role::width:
    case Role::height:
    case Role::depth: break;
  }
  return {"role"};
}

void read_memory(const TableReader &table, const toml::table &node, Argument &argument) {
  argument.storage =
      read_enum<Storage>(table, "storage", packs::kStorageNames).value_or(Storage::buffer);
  argument.type = read_enum<Type>(table, "type", packs::kTypeNames).value_or(Type::uchar_);
  argument.channels =
      static_cast<std::uint8_t>(table.integer("channels", 1, kMaxChannels).value_or(1));
  argument.extent = table.terms("extent", 3);
  argument.accumulates = table.boolean("accumulates").value_or(false);
  if (argument.storage == Storage::buffer) return;
  if (argument.channels == 3) {
    table.fail(position_of(*node.get("channels")),
               fmt::format("\"channels\" in {} is 3, which no image has", table.label()),
               "expected 1, 2 or 4");
  }
  if (argument.type != Type::uchar_ && argument.type != Type::float_ &&
      argument.type != Type::half_) {
    table.fail(position_of(*node.get("type")),
               fmt::format("\"type\" in {} is of no image that Kiln makes", table.label()),
               "expected uchar, float or half");
  }
}

void read_parameter(const TableReader &table, Argument &argument) {
  constexpr Type kTypes[] = {Type::uint_, Type::int_, Type::float_};
  constexpr const char *kNames[] = {"uint", "int", "float"};
  argument.type = kTypes[read_enum<std::size_t>(table, "type", kNames).value_or(0)];
  argument.channels =
      static_cast<std::uint8_t>(table.integer("channels", 1, kMaxComponents).value_or(1));
  double low = 0;
  double high = std::numeric_limits<std::uint32_t>::max();
  if (argument.type == Type::int_) {
    low = std::numeric_limits<std::int32_t>::min();
    high = std::numeric_limits<std::int32_t>::max();
  } else if (argument.type == Type::float_) {
    high = std::numeric_limits<float>::max();
    low = -high;
  }
  argument.values =
      table.numbers("value", argument.channels, {low, high, argument.type != Type::float_});
  if (argument.values.empty()) argument.values.assign(argument.channels, 0.0);
  if (argument.values.size() != 1 || argument.type != Type::uint_) return;
  argument.value = static_cast<std::int64_t>(argument.values.front());
  argument.values.clear();  // one integer needs no list
}

Argument read_argument(const TableReader &table, const toml::table &node) {
  Argument argument;
  argument.role = role_of(table);
  table.allow_only(keys_of(argument.role));
  const bool sized =
      argument.role == Role::width || argument.role == Role::height || argument.role == Role::depth;
  if (argument.role == Role::parameter) {
    read_parameter(table, argument);
  } else if (!sized) {
    read_memory(table, node, argument);
  }
  if (const auto name = table.name("name")) {
    argument.name = name->value;
  } else if (argument.role == Role::parameter) {
    table.missing("name", "expected name = \"the parameter's name\"");
  }
  return argument;
}

}  // namespace

std::vector<Argument> read_arguments(const ManifestText &document, const toml::array &array,
                                     const std::string &label) {
  std::vector<Argument> arguments;
  std::set<std::string> names;
  for (const toml::node &node : array) {
    const std::string place = fmt::format("argument {} of {}", arguments.size() + 1, label);
    if (arguments.size() == kMaxArguments) {
      document.fail(position_of(node), fmt::format("too many arguments in {}", label),
                    fmt::format("expected at most {}", kMaxArguments));
    }
    const toml::table *table = node.as_table();
    if (table == nullptr) {
      document.fail(position_of(node), fmt::format("{} is not a table", place),
                    "expected a table such as { role = \"input\" }");
    }
    Argument argument = read_argument(TableReader(document, *table, place), *table);
    if (!argument.name.empty() && !names.insert(argument.name).second) {
      document.fail(position_of(*table->get("name")),
                    fmt::format("name {} of {} is taken", in_quotes(argument.name), place),
                    "expected a name that no argument before it has");
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::optional<std::vector<Argument>> read_own_arguments(const ManifestText &document,
                                                        const TableReader &table) {
  const toml::array *array = table.array("arguments", "an array of tables");
  if (array == nullptr) return std::nullopt;
  return read_arguments(document, *array, table.label());
}

}  // namespace kiln::builder
