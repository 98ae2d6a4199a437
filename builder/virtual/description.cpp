// SPDX-License-Identifier: Apache-2.0
// Reads the description of a compiler.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "builder/manifest/toml_reader.hpp"
#include "builder/virtual/described_compiler.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {
namespace {

constexpr const char *kPlaceholders[] = {"{input}", "{output}", "{options}"};

struct Flag {
  const char *key;
  bool runtime::Capabilities::*member;
};
constexpr std::array<Flag, 8> kFlags = {{
    {"fp16", &runtime::Capabilities::fp16},
    {"fp64", &runtime::Capabilities::fp64},
    {"images", &runtime::Capabilities::images},
    {"integer_dot_product", &runtime::Capabilities::integer_dot_product},
    {"non_uniform_work_groups", &runtime::Capabilities::non_uniform_work_groups},
    {"opencl_3", &runtime::Capabilities::opencl_3},
    {"subgroups", &runtime::Capabilities::subgroups},
    {"unified_memory", &runtime::Capabilities::unified_memory},
}};

std::string needed_string(const TableReader &table, const std::string &key) {
  const auto value = table.string(key);
  if (!value || value->value.empty()) table.missing(key, "expected a text");
  return value->value;
}

void read_command(const TableReader &root, CompilerDescription *out) {
  for (const auto &word : root.strings("command")) {
    for (std::size_t open = word.value.find('{'); open != std::string::npos;
         open = word.value.find('{', open + 1)) {
      const std::string_view rest = std::string_view(word.value).substr(open);
      const bool known = std::any_of(std::begin(kPlaceholders), std::end(kPlaceholders),
                                     [&](const char *one) { return rest.starts_with(one); });
      const bool alone = !rest.starts_with("{options}") || word.value == "{options}";
      if (known && alone) continue;
      root.fail(word.at, "unknown placeholder in " + in_quotes(word.value),
                "expected {input}, {output}, or {options} as an argument of its own");
    }
    out->command.push_back(word.value);
  }
  for (const char *needed : {"{input}", "{output}"}) {
    const bool there = std::any_of(
        out->command.begin(), out->command.end(),
        [&](const std::string &word) { return word.find(needed) != std::string::npos; });
    if (!there)
      root.missing("command",
                   fmt::format("expected the program and its arguments, with {}", needed));
  }
}

void read_environment(const TableReader &table, const toml::table &values,
                      CompilerDescription *out) {
  for (const auto &[key, node] : values) {
    const auto value = table.string(std::string(key.str()));
    if (value) out->environment.emplace_back(key.str(), value->value);
  }
}

void read_identity(const TableReader &table, const toml::table &values, DeviceInfo *info) {
  for (const auto &[key, node] : values) {
    const std::string name(key.str());
    const auto field = runtime::field_from_name(name);
    if (!field) {
      table.fail(position_of(key), "unknown fact " + in_quotes(name) + " in [identity]",
                 "expected facts as `kiln devices --json` has them in \"identity\"");
    }
    if (const auto value = table.string(name)) info->identity.set(*field, value->value);
  }
  info->description = runtime::describe(info->identity);
  if (info->description.key.facts().size() < 2) {
    table.fail(table.position(), "an [identity] without a fact that a binary depends on",
               "expected facts as `kiln devices --json` has them in \"identity\"");
  }
}

void read_capabilities(const TableReader &table, runtime::Capabilities *can) {
  std::vector<std::string> keys = {"extensions", "local_memory", "max_work_group_size"};
  for (const Flag &flag : kFlags) {
    keys.emplace_back(flag.key);
    can->*flag.member = table.boolean(flag.key).value_or(false);
  }
  table.allow_only(keys);
  for (const auto &extension : table.strings("extensions")) {
    can->extensions.push_back(extension.value);
  }
  std::sort(can->extensions.begin(), can->extensions.end());
  const auto most = table.integer("max_work_group_size", 1, 65536);
  can->max_work_group_size = static_cast<std::size_t>(most.value_or(256));
  for (std::size_t &size : can->max_work_item_sizes) size = can->max_work_group_size;
  const auto local = table.integer("local_memory", 0, std::int64_t{1} << 32);
  can->local_memory = static_cast<std::uint64_t>(local.value_or(32 << 10));
}

void complete_capabilities(const CompilerDescription &description, runtime::Capabilities *can) {
  const runtime::Identity &identity = description.info.identity;
  can->profile = description.info.description.profile;
  can->compiler = !description.takes_il;
  can->address_bits = identity.text(runtime::Field::address_bits) == "32" ? 32 : 64;
  can->compute_capability =
      runtime::parse_compute_capability(identity.text(runtime::Field::compute_capability));
}

CompilerDescription read_description(const ManifestText &document, const toml::table &parsed) {
  const TableReader root(document, parsed, "the file");
  root.allow_only({"schema", "name", "tools", "driver", "input", "command", "environment",
                   "identity", "capabilities"});
  if (!root.integer("schema", 1, 1)) root.missing("schema", "expected schema = 1");
  CompilerDescription out;
  const auto name = root.name("name");
  if (!name) root.missing("name", "expected the target's name");
  out.name = name->value;
  const packs::View bytes{reinterpret_cast<const std::uint8_t *>(document.text.data()),
                          document.text.size()};
  out.recipe = fmt::format("virtual-described 1, {}, description {}", needed_string(root, "tools"),
                           packs::hex(packs::blake2b(bytes)).substr(0, 8));
  if (const auto driver = root.string("driver")) out.driver = driver->value;
  out.takes_il = root.word("input", "input", {"source", "il"}).value_or("source") == "il";
  read_command(root, &out);
  if (const auto *table = root.table("environment", "expected a table of texts")) {
    read_environment({document, *table, "[environment]"}, *table, &out);
  }
  const auto *identity = root.table("identity", "expected a table of texts");
  if (identity == nullptr) root.missing("identity", "expected the device's facts");
  read_identity({document, *identity, "[identity]"}, *identity, &out.info);
  static const toml::table kEmpty;
  const auto *capabilities = root.table("capabilities", "expected a table");
  read_capabilities({document, capabilities != nullptr ? *capabilities : kEmpty, "[capabilities]"},
                    &out.info.capabilities);
  complete_capabilities(out, &out.info.capabilities);
  return out;
}

}  // namespace

Result<CompilerDescription> parse_description(std::string_view text,
                                              const std::filesystem::path &path) {
  const ManifestText document{path.generic_string(), text, path.parent_path()};
  try {
    return read_description(document, parse_toml(document));
  } catch (const ManifestFault &fault) {
    return Status(Code::bad_input, fault.text);
  }
}

}  // namespace kiln::builder
