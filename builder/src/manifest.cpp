#include "manifest.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <new>

#include <fmt/format.h>

#include "manifest_reader.hpp"
#include "reference.hpp"
#include "requirement_names.hpp"
#include "suggest.hpp"

namespace kiln::builder {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::int64_t kMostPixels = 4096;     // a work-item computes, in each direction
constexpr std::int64_t kMostLocalSize = 4096;  // work-items, in each direction
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

bool is_identifier(std::string_view name) {
  return is_name(name) && !(name.front() >= '0' && name.front() <= '9') &&
         name.find_first_of("-.") == std::string_view::npos;
}

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

std::vector<std::string> read_requirements(const TableReader &table) {
  std::vector<std::string> names;
  for (const auto &name : table.strings("requires")) {
    if (!is_requirement(name.value)) {
      std::vector<std::string> known = requirement_names();
      known.emplace_back("extension:NAME");
      table.fail(name.at,
                 fmt::format("unknown requirement {} in {}", in_quotes(name.value), table.label()),
                 expected_one_of(name.value, known));
    }
    names.push_back(name.value);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<std::vector<Argument>> read_own_arguments(const ManifestText &document,
                                                        const TableReader &table) {
  const toml::array *array = table.array("arguments", "an array of tables");
  if (array == nullptr) return std::nullopt;
  return read_arguments(document, *array, table.label());
}

// A reference can check only what has its shape.
void check_reference(const TableReader &table, const std::string &reference,
                     const Variant &variant) {
  const auto shape = reference_shape(reference);
  if (!shape || variant.arguments.empty()) return;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  bool channels = true;
  for (const Argument &argument : variant.arguments) {
    inputs += argument.role == Role::input ? 1u : 0u;
    outputs += argument.role == Role::output ? 1u : 0u;
    const bool plane = argument.role == Role::input || argument.role == Role::output;
    channels = channels && (!plane || argument.channels == shape->channels);
  }
  if (inputs == 1 && outputs == shape->planes && channels) return;
  table.fail(table.position(),
             fmt::format("the arguments of {} do not fit reference {}", table.label(),
                         in_quotes(reference)),
             fmt::format("expected one input and {} output(s), each with channels = {}",
                         shape->planes, shape->channels));
}

// What a variant takes from its program unless it has its own.
struct Defaults {
  std::string options;
  std::optional<std::filesystem::path> source;
  std::vector<Argument> arguments;
};

Variant read_variant(const ManifestText &document, const TableReader &table, std::string name,
                     const Defaults &defaults, const std::string &program_label) {
  table.allow_only(
      {"arguments", "kernel", "local_size", "options", "pixels", "requires", "source"});
  Variant variant;
  variant.name = std::move(name);
  const auto kernel = table.string("kernel");
  if (!kernel) table.missing("kernel", "expected kernel = \"the entry point's name\"");
  if (!is_identifier(kernel->value)) {
    table.fail(kernel->at,
               fmt::format("bad kernel {} in {}", in_quotes(kernel->value), table.label()),
               "expected an OpenCL C identifier");
  }
  variant.kernel = kernel->value;
  const auto source = table.file("source");
  if (!source && !defaults.source) {
    table.missing("source",
                  fmt::format("expected source = \"a file\" here or in {}", program_label));
  }
  variant.source = source ? *source : *defaults.source;
  variant.options = defaults.options;
  const std::string own = read_options(table);
  if (!variant.options.empty() && !own.empty()) variant.options += ' ';
  variant.options += own;
  variant.requirements = read_requirements(table);
  variant.pixels = table.pair("pixels", kMostPixels).value_or(variant.pixels);
  variant.local_size = table.pair("local_size", kMostLocalSize).value_or(variant.local_size);
  variant.arguments = read_own_arguments(document, table).value_or(defaults.arguments);
  return variant;
}

// The tables below `key`, sorted by name as toml++ keeps them; throws when there is none,
// when a name is not one, or when a value is not a table.
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

Program read_program(const ManifestText &document, const TableReader &table, std::string name) {
  table.allow_only({"arguments", "include_dirs", "options", "reference", "source", "variant"});
  Program program;
  program.name = std::move(name);
  program.reference = table.word("reference", "reference", reference_names()).value_or("");
  for (const auto &folder : table.strings("include_dirs")) {
    program.include_dirs.push_back(table.folder(folder));
  }
  Defaults defaults;
  defaults.options = read_options(table);
  defaults.source = table.file("source");
  defaults.arguments = read_own_arguments(document, table).value_or(std::vector<Argument>{});
  const std::string prefix = fmt::format("program.{}.variant", program.name);
  for (const auto &[variant, reader] : read_named_tables(document, table, "variant", prefix)) {
    program.variants.push_back(read_variant(document, reader, variant, defaults, table.label()));
    check_reference(reader, program.reference, program.variants.back());
  }
  return program;
}

void read_spirv(const TableReader &table, Manifest &manifest) {
  table.allow_only({"address_bits", "version"});
  if (const auto version = table.word("version", "SPIR-V version", {"1.0", "1.1", "1.2"})) {
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

Manifest read_root(const ManifestText &document, const toml::table &root) {
  const TableReader table(document, root, "the manifest");
  // The schema comes first: keys of a newer one are not misspellings.
  if (!table.integer("schema", kSchema, kSchema)) {
    table.missing("schema", fmt::format("expected schema = {}", kSchema));
  }
  table.allow_only({"program", "schema", "spirv"});
  Manifest manifest;
  if (const toml::table *spirv = table.table("spirv", "a table")) {
    read_spirv(TableReader(document, *spirv, "[spirv]"), manifest);
  }
  for (const auto &[name, reader] : read_named_tables(document, table, "program", "program")) {
    manifest.programs.push_back(read_program(document, reader, name));
  }
  return manifest;
}

}  // namespace

std::variant<Manifest, ManifestError> parse_manifest(std::string_view text,
                                                     const std::filesystem::path &path) {
  const ManifestText document{path.generic_string(), text, path.parent_path()};
  try {
    return read_root(document, toml::parse(text));
  } catch (const ManifestFault &fault) {
    return fault.error;
  } catch (const toml::parse_error &error) {
    const toml::source_position at = error.source().begin;
    return ManifestError{source_error(document.file, text, {at.line, at.column}, "not valid TOML",
                                      std::string(error.description()))};
  } catch (const std::exception &error) {
    return ManifestError{file_error(document.file, error.what())};
  }
}

std::variant<Manifest, ManifestError> read_manifest(const std::filesystem::path &path) {
  const std::string file = path.generic_string();
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return ManifestError{file_error(file, "cannot be read: " + error.message())};
  if (size > kMostBytes) {
    return ManifestError{
        file_error(file, fmt::format("{} bytes; a manifest has at most {}", size, kMostBytes))};
  }
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.is_open() || stream.bad()) {
    return ManifestError{file_error(file, "cannot be read")};
  }
  return parse_manifest(text, path);
}

}  // namespace kiln::builder
