// SPDX-License-Identifier: Apache-2.0
// Reads the tables from the root down to programs; variant.cpp reads the variants.
#include "builder/manifest/manifest.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/manifest/variant.hpp"
#include "builder/manifest/whole_programs.hpp"
#include "builder/problem/program_shape.hpp"
#include "builder/problem/reference_spec.hpp"
#include "runtime/identity/requirements.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::builder {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::int64_t kMaxSide = std::int64_t{1} << 31;  // of a problem
constexpr std::size_t kMaxManifestBytes = std::size_t{16} << 20;

// Returns the tables below `key`, sorted by name as toml++ keeps them. Throws if there is no table,
// a name is not valid, or a value is not a table.
std::vector<std::pair<std::string, TableReader>> read_named_tables(const ManifestText &document,
                                                                   const TableReader &parent,
                                                                   const std::string &key,
                                                                   const std::string &prefix) {
  const std::string example = fmt::format("expected a table such as [{}.NAME]", prefix);
  const toml::table *tables = parent.table(key, fmt::format("tables such as [{}.NAME]", prefix));
  if (tables == nullptr || tables->empty()) parent.missing(key, example);
  std::vector<std::pair<std::string, TableReader>> found;
  for (const auto &[name, node] : *tables) {
    if (!is_name(name.str())) {
      document.fail(position_of(name), fmt::format("bad {} name {}", key, in_quotes(name.str())),
                    kNameRule);
    }
    const std::string label = fmt::format("{}.{}", prefix, name.str());
    if (!node.is_table()) {
      document.fail(position_of(node), fmt::format("{} is not a table", label), example);
    }
    found.emplace_back(name.str(),
                       TableReader(document, *node.as_table(), fmt::format("[{}]", label)));
  }
  return found;
}

ProgramShape shape_of(const ManifestProgram &program) {
  std::vector<ProgramShape> variants;
  for (const ManifestVariant &variant : program.variants) {
    const auto &arguments = variant.record.arguments;
    if (arguments.empty()) continue;
    variants.push_back(
        {memory_shapes(arguments, Role::input), memory_shapes(arguments, Role::output)});
  }
  return common_shape(variants);
}

bool fits(const packs::Variant &variant, Role role, const std::vector<PlaneShape> &shapes) {
  std::vector<PlaneShape> own = memory_shapes(variant.arguments, role);
  if (own.size() != shapes.size()) return false;
  for (const PlaneShape &shape : shapes) {
    for (const Argument &argument : variant.arguments) {
      const bool this_one = shapes.size() == 1 || argument.name == shape.name;
      if (argument.role != role || !this_one) continue;
      const bool packs = packs::is_image(argument.storage) || !argument.extent.empty();
      if (argument.type != shape.type || (argument.channels != shape.channels && !packs)) {
        return false;
      }
      std::erase_if(own, [&](const PlaneShape &memory) { return memory.name == argument.name; });
    }
  }
  return own.empty();
}

std::string shapes_text(const std::vector<PlaneShape> &shapes) {
  std::string text;
  for (const PlaneShape &shape : shapes) {
    if (!text.empty()) text += ", ";
    if (!shape.name.empty()) text += shape.name + " of ";
    text += fmt::format("{} x {}", shape.channels,
                        packs::kTypeNames[static_cast<std::size_t>(shape.type)]);
  }
  return text.empty() ? "none" : text;
}

// Checks that a variant has the inputs and outputs of the program: variants are compared.
void check_arguments(const TableReader &table, const packs::Variant &variant,
                     const ProgramShape &shape) {
  if (variant.arguments.empty()) return;
  if (fits(variant, Role::input, shape.inputs) && fits(variant, Role::output, shape.outputs)) {
    return;
  }
  table.fail(table.position(),
             fmt::format("the arguments of {} are not those of the program, which has a reference",
                         table.label()),
             fmt::format("expected inputs: {}; outputs: {}", shapes_text(shape.inputs),
                         shapes_text(shape.outputs)));
}

void check_reference_variant(const TableReader &table, const ManifestProgram &program, Position at,
                             const std::string &name) {
  std::vector<std::string> names;
  for (const ManifestVariant &variant : program.variants) {
    if (!variant.record.arguments.empty()) names.push_back(variant.record.name);
  }
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  table.fail(at,
             fmt::format("\"reference\" of {} names {}, which is no variant that Kiln launches",
                         table.label(), in_quotes(name)),
             expected_one_of(name, names));
}

void check_file(const TableReader &table, Position at, const std::string &name,
                const std::vector<PlaneShape> &planes, const ProblemSize &size) {
  const std::filesystem::path path = table.below_manifest(name);
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    table.fail(at, fmt::format("{} of {} is not a file", in_quotes(name), table.label()),
               "expected a file at " + path.generic_string());
  }
  std::uint64_t expected = 0;
  for (const PlaneShape &plane : planes) expected += bytes_of(plane, size);
  if (bytes == expected) return;
  table.fail(at, fmt::format("{} of {} has {} bytes", in_quotes(name), table.label(), bytes),
             fmt::format("expected {}, those of {} at {}", expected, shapes_text(planes),
                         size_text(size)));
}

// Returns the program's "reference", checked against its variants, whose tables are `tables`; empty
// if the program names no reference. A file must exist and have the size of the outputs; a library
// need not have been built yet.
std::string read_reference(const TableReader &table, const ManifestProgram &program,
                           const std::map<std::string, TableReader> &tables) {
  const auto text = table.string("reference");
  if (!text) return {};
  const auto spec = parse_reference(text->value);
  if (!spec) {
    table.fail(text->at,
               fmt::format("bad reference {} in {}", in_quotes(text->value), table.label()),
               kReferenceRule);
  }
  const ProgramShape shape = shape_of(program);
  if (spec->kind == ReferenceSpec::Kind::variant) {
    check_reference_variant(table, program, text->at, spec->name);
  } else if (spec->kind == ReferenceSpec::Kind::file) {
    check_file(table, text->at, spec->name, shape.outputs, spec->size);
    if (!spec->input.empty()) check_file(table, text->at, spec->input, shape.inputs, spec->size);
  }
  auto variant = program.variants.begin();  // sorted, as the tables are
  for (const auto &[name, own] : tables) check_arguments(own, (variant++)->record, shape);
  return text->value;
}

// Returns `name` if the program has such a variant; throws otherwise.
std::string known_variant(const TableReader &table, const ManifestProgram &program, const char *key,
                          const Located<std::string> &name) {
  std::vector<std::string> names;
  for (const ManifestVariant &variant : program.variants) names.push_back(variant.record.name);
  if (std::find(names.begin(), names.end(), name.value) == names.end()) {
    table.fail(name.at,
               fmt::format("unknown variant {} in \"{}\" of {}", in_quotes(name.value), key,
                           table.label()),
               expected_one_of(name.value, names));
  }
  return name.value;
}

// Returns the sides of a problem; the depth is 1 if the array has two.
std::optional<std::array<std::uint32_t, 3>> size_of(const toml::node &node) {
  const toml::array *sides = node.as_array();
  if (sides == nullptr || sides->size() < 2 || sides->size() > 3) return std::nullopt;
  std::array<std::uint32_t, 3> size{1, 1, 1};
  for (std::size_t i = 0; i < sides->size(); ++i) {
    const auto side = (*sides)[i].value<std::int64_t>().value_or(0);
    if (side < 1 || side > kMaxSide) return std::nullopt;
    size[i] = static_cast<std::uint32_t>(side);
  }
  return size;
}

void read_hints(const TableReader &table, ManifestProgram *program) {
  for (const auto &name : table.strings("prefer")) {
    program->record.preferred.push_back(known_variant(table, *program, "prefer", name));
  }
  if (const auto name = table.string("baseline")) {
    program->record.baseline = known_variant(table, *program, "baseline", *name);
  }
  const toml::array *sizes = table.array("sizes", "an array such as [[1920, 1080]]");
  if (sizes == nullptr) return;
  for (const toml::node &node : *sizes) {
    const auto size = size_of(node);
    if (!size) {
      table.fail(position_of(node), fmt::format("bad item of \"sizes\" in {}", table.label()),
                 "expected [width, height] or [width, height, depth]");
    }
    program->record.sizes.push_back(*size);
  }
}

// Fails if a variant requires proof and its program has no reference to prove it against.
void check_proofs(const TableReader &table, const ManifestProgram &program) {
  for (const ManifestVariant &variant : program.variants) {
    if (!program.record.reference.empty() ||
        !runtime::requires_word(variant.record.requirements, runtime::kProof)) {
      continue;
    }
    table.fail(table.position(),
               fmt::format("variant {} requires a proof, and {} has no reference",
                           in_quotes(variant.record.name), table.label()),
               "expected reference = \"variant:NAME\", or another");
  }
}

ManifestProgram read_program(const ManifestText &document, const TableReader &table,
                             std::string name) {
  table.allow_only({"arguments", "baseline", "include_dirs", "limits", "options", "prefer",
                    "reference", "sizes", "source", "variant", "workarounds"});
  ManifestProgram program;
  program.record.name = std::move(name);
  for (const auto &folder : table.strings("include_dirs")) {
    program.include_dirs.push_back(table.folder(folder));
  }
  Defaults defaults;
  defaults.options = read_options(table);
  defaults.source = table.file("source");
  defaults.arguments = read_own_arguments(document, table).value_or(std::vector<Argument>{});
  defaults.limits = read_limits(document, table, {});
  defaults.workarounds = read_workarounds(table, {});
  const std::string prefix = fmt::format("program.{}.variant", program.record.name);
  std::map<std::string, TableReader> tables;  // the table of each variant, by name
  for (const auto &[name_of, reader] : read_named_tables(document, table, "variant", prefix)) {
    for (auto &variant : read_variants(document, reader, name_of, defaults, table.label())) {
      if (!tables.emplace(variant.record.name, reader).second) {
        table.fail(reader.position(),
                   fmt::format("variant {} of {} is there twice", in_quotes(variant.record.name),
                               table.label()),
                   "expected each name once, those of combinations of options included");
      }
      program.variants.push_back(std::move(variant));
    }
  }
  std::sort(program.variants.begin(), program.variants.end(),
            [](const auto &one, const auto &other) { return one.record.name < other.record.name; });
  program.record.reference = read_reference(table, program, tables);
  check_proofs(table, program);
  read_hints(table, &program);
  return program;
}

void read_spirv(const TableReader &table, Manifest &manifest) {
  table.allow_only({"address_bits", "version"});
  if (const auto version = table.word("version", "SPIR-V version",
                                      {"1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"})) {
    manifest.spirv_version = 0x00010000u | static_cast<std::uint32_t>(version->back() - '0') << 8u;
  }
  const toml::array *bits = table.array("address_bits", "an array of 32 and 64");
  if (bits == nullptr) return;
  manifest.address_bits.clear();
  for (const toml::node &item : *bits) {
    const auto *value = item.as_integer();
    if (value == nullptr || (value->get() != 32 && value->get() != 64)) {
      table.fail(position_of(item),
                 fmt::format("bad item of \"address_bits\" in {}", table.label()),
                 "expected 32 or 64");
    }
    manifest.address_bits.push_back(static_cast<std::uint32_t>(value->get()));
  }
  if (manifest.address_bits.empty()) {
    table.fail(position_of(*bits), fmt::format("\"address_bits\" in {} is empty", table.label()),
               "expected an array of 32 and 64");
  }
  auto &list = manifest.address_bits;
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// Returns the manifest's roots and those that are given, which override them.
Roots read_roots(const ManifestText &document, const TableReader &manifest, const Roots &given) {
  Roots roots = given;
  const toml::table *table = manifest.table("roots", "a table of folders");
  if (table == nullptr) return roots;
  const TableReader reader(document, *table, "[roots]");
  for (const auto &[key, node] : *table) {
    const std::string name(key.str());
    if (!is_name(name)) {
      document.fail(position_of(key), fmt::format("bad root {}", in_quotes(name)), kNameRule);
    }
    const auto folder = reader.string(name);
    if (folder->value.empty()) {
      document.fail(folder->at, fmt::format("root {} is empty", in_quotes(name)),
                    "expected a folder");
    }
    roots.emplace(name, reader.below_manifest(folder->value));
  }
  return roots;
}

// Fails for a root of the command line that nothing uses: it may be misspelled.
void check_roots(const ManifestText &document, const Manifest &manifest, const Roots &given) {
  for (const auto &[name, folder] : given) {
    if (document.used_roots.count(name) != 0) continue;
    std::vector<std::string> names;
    for (const auto &[other, ignored] : manifest.roots) {
      if (given.count(other) == 0 || document.used_roots.count(other) != 0) names.push_back(other);
    }
    throw ManifestFault{
        file_error(document.file, fmt::format("no path begins with {}, the name of a --root",
                                              in_quotes(name + ":"))) +
        (names.empty() ? "" : expected_one_of(name, names) + "\n")};
  }
}

// Reads all programs. A pattern skips files that other programs name.
std::vector<ManifestProgram> read_programs(const ManifestText &document, const TableReader &root) {
  const auto tables = read_named_tables(document, root, "program", "program");
  std::vector<ManifestProgram> programs;
  std::set<std::string> names;
  std::set<std::filesystem::path> taken;
  for (const bool patterns : {false, true}) {
    for (const auto &[name, table] : tables) {
      const bool whole = has_whole_programs(table);
      if ((whole && has_pattern(table)) != patterns) continue;
      auto found = whole ? read_whole_programs(document, table, name, taken)
                         : std::vector{read_program(document, table, name)};
      for (ManifestProgram &program : found) {
        if (source::is_program_name(program.record.name)) {
          table.fail(table.position(),
                     fmt::format("program {} has the name of a recorded program",
                                 in_quotes(program.record.name)),
                     "expected another: that name is made of a program's source and options");
        }
        if (!names.insert(program.record.name).second) {
          table.fail(table.position(),
                     fmt::format("program {} is there twice", in_quotes(program.record.name)),
                     "expected each name once, those of files and of options included; tables over "
                     "the same files differ by the names of sets");
        }
        programs.push_back(std::move(program));
      }
    }
    for (const ManifestProgram &program : programs) {
      for (const ManifestVariant &variant : program.variants) taken.insert(variant.source);
    }
  }
  std::sort(programs.begin(), programs.end(),
            [](const auto &one, const auto &other) { return one.record.name < other.record.name; });
  return programs;
}

Manifest read_root(ManifestText &document, const toml::table &root, const Roots &given) {
  const TableReader table(document, root, "the manifest");
  // The schema is checked first, because keys of a newer schema are not misspellings.
  if (!table.integer("schema", kSchema, kSchema)) {
    table.missing("schema", fmt::format("expected schema = {}", kSchema));
  }
  table.allow_only({"program", "roots", "schema", "spirv"});
  Manifest manifest;
  document.roots = manifest.roots = read_roots(document, table, given);
  if (const toml::table *spirv = table.table("spirv", "a table")) {
    read_spirv(TableReader(document, *spirv, "[spirv]"), manifest);
  }
  manifest.programs = read_programs(document, table);
  check_roots(document, manifest, given);
  return manifest;
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path &path,
                                const Roots &roots) {
  ManifestText document{path.generic_string(), text, path.parent_path()};
  try {
    return read_root(document, parse_toml(document), roots);
  } catch (const ManifestFault &fault) {
    return Status(Code::bad_input, fault.text);
  } catch (const std::exception &error) {
    return Status(Code::bad_input, file_error(document.file, error.what()));
  }
}

Result<Manifest> read_manifest(const std::filesystem::path &path, const Roots &roots) {
  const std::string file = path.generic_string();
  const auto fault = [&](const std::string &message) {
    return Status(Code::bad_input, file_error(file, message));
  };
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return fault("cannot be read: " + error.message());
  if (size > kMaxManifestBytes) {
    return fault(fmt::format("{} bytes; a manifest has at most {}", size, kMaxManifestBytes));
  }
  const auto text = read_whole_file(path);
  if (!text) return fault("cannot be read");
  return parse_manifest(*text, path, roots);
}

}  // namespace kiln::builder
