// SPDX-License-Identifier: Apache-2.0
// Checks that what a reference names is there, and fits the arguments of the variants.
#include "builder/manifest/program_reference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/base/suggest.hpp"
#include "builder/problem/reference_spec.hpp"

namespace kiln::builder {
namespace {

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
      const bool packs = argument.storage == Storage::image || !argument.extent.empty();
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

// Variants that are compared take and give the same.
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

void check_variant(const TableReader &table, const ManifestProgram &program, Position at,
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

}  // namespace

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
    check_variant(table, program, text->at, spec->name);
  } else if (spec->kind == ReferenceSpec::Kind::file) {
    check_file(table, text->at, spec->name, shape.outputs, spec->size);
    if (!spec->input.empty()) check_file(table, text->at, spec->input, shape.inputs, spec->size);
  }
  auto variant = program.variants.begin();  // sorted, as the tables are
  for (const auto &[name, own] : tables) check_arguments(own, (variant++)->record, shape);
  return text->value;
}

}  // namespace kiln::builder
