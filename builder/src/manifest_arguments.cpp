#include <limits>
#include <set>

#include <fmt/format.h>

#include "manifest_reader.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kMostArguments = 64;
constexpr std::int64_t kMostChannels = 4;

Role role_of(const TableReader &table) {
  static const std::vector<std::string> kRoles = {"height", "input", "output", "parameter",
                                                  "width"};
  const auto role = table.word("role", "role", kRoles);
  if (!role) table.missing("role", "expected one of: height, input, output, parameter, width");
  if (*role == "input") return Role::input;
  if (*role == "output") return Role::output;
  if (*role == "width") return Role::width;
  return *role == "height" ? Role::height : Role::parameter;
}

std::vector<std::string> keys_of(Role role) {
  switch (role) {
    case Role::input: return {"channels", "role", "storage"};
    case Role::output: return {"channels", "name", "role", "storage"};
    case Role::parameter: return {"name", "role", "value"};
    case Role::width:
    case Role::height: break;
  }
  return {"role"};
}

void read_pixels(const TableReader &table, const toml::table &node, Argument &argument) {
  if (table.word("storage", "storage", {"buffer", "image"}) == "image") {
    argument.storage = Storage::image;
  }
  argument.channels =
      static_cast<std::uint32_t>(table.integer("channels", 1, kMostChannels).value_or(1));
  if (argument.storage == Storage::image && argument.channels == 3) {
    table.fail(position_of(*node.get("channels")),
               fmt::format("\"channels\" in {} is 3, which no 8-bit image has", table.label()),
               "expected 1, 2 or 4");
  }
}

Argument read_argument(const TableReader &table, const toml::table &node) {
  Argument argument;
  argument.role = role_of(table);
  table.allow_only(keys_of(argument.role));
  if (argument.role == Role::input || argument.role == Role::output) {
    read_pixels(table, node, argument);
  }
  if (const auto name = table.name("name")) {
    argument.name = name->value;
  } else if (argument.role == Role::parameter) {
    table.missing("name", "expected name = \"the parameter's name\"");
  }
  argument.value = table.integer("value", 0, std::numeric_limits<std::uint32_t>::max()).value_or(0);
  return argument;
}

}  // namespace

std::vector<Argument> read_arguments(const ManifestText &document, const toml::array &array,
                                     const std::string &label) {
  std::vector<Argument> arguments;
  std::set<std::string> names;
  for (const toml::node &node : array) {
    const std::string place = fmt::format("argument {} of {}", arguments.size() + 1, label);
    if (arguments.size() == kMostArguments) {
      document.fail(position_of(node), fmt::format("too many arguments in {}", label),
                    fmt::format("expected at most {}", kMostArguments));
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

}  // namespace kiln::builder
