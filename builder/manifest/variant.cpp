// SPDX-License-Identifier: Apache-2.0
// The keys of a variant's table: its kernel, or its stages, and what they need.
#include "builder/manifest/variant.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "builder/base/suggest.hpp"
#include "builder/manifest/arguments.hpp"
#include "builder/manifest/variant_options.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::builder {
namespace {

constexpr std::int64_t kMaxPixels = 4096;     // a work-item computes, in each direction
constexpr std::int64_t kMaxLocalSize = 4096;  // work-items, in each direction
constexpr std::size_t kMaxStages = 16;

// The kernel that a variant or a stage names, and its NDRange.
packs::Kernel read_kernel(const TableReader &table) {
  const auto kernel = table.string("kernel");
  if (!kernel) table.missing("kernel", "expected kernel = \"the entry point's name\"");
  if (!is_kernel_name(kernel->value)) {
    table.fail(kernel->at,
               fmt::format("bad kernel {} in {}", in_quotes(kernel->value), table.label()),
               "expected an OpenCL C identifier");
  }
  return {kernel->value, 0, table.terms("range", 3)};
}

// The kernels after the first, with arguments of their own.
void read_stages(const ManifestText &document, const TableReader &table, packs::Variant *variant) {
  const toml::array *stages = table.array("stages", "an array of tables");
  if (stages == nullptr) return;
  for (const toml::node &node : *stages) {
    const std::string place =
        fmt::format("stage {} of {}", variant->kernels.size() + 1, table.label());
    const toml::table *entries = node.as_table();
    if (entries == nullptr || variant->kernels.size() == kMaxStages) {
      table.fail(position_of(node),
                 entries == nullptr ? place + " is not a table" : "too many stages",
                 fmt::format("expected at most {} tables such as {{ kernel = \"second\" }}",
                             kMaxStages - 1));
    }
    const TableReader stage(document, *entries, place);
    stage.allow_only({"arguments", "kernel", "pixels", "range"});
    packs::Kernel kernel = read_kernel(stage);
    if (const auto pixels = stage.pair("pixels", kMaxPixels); pixels && kernel.range.empty()) {
      kernel.range = fmt::format("width/{} height/{}", (*pixels)[0], (*pixels)[1]);
    }
    const auto same = [&](const packs::Kernel &k) { return k.name == kernel.name; };
    if (std::any_of(variant->kernels.begin(), variant->kernels.end(), same)) {
      table.fail(position_of(node),
                 fmt::format("kernel {} is in {} twice", kernel.name, table.label()),
                 "expected each kernel once");
    }
    for (Argument argument :
         read_own_arguments(document, stage).value_or(std::vector<Argument>{})) {
      argument.stage = static_cast<std::uint8_t>(variant->kernels.size());
      variant->arguments.push_back(std::move(argument));
    }
    variant->kernels.push_back(std::move(kernel));
  }
}

// What all combinations of options have in common: the options are the program's alone.
ManifestVariant read_common(const ManifestText &document, const TableReader &table,
                            const Defaults &defaults, const std::string &program_label) {
  ManifestVariant variant;
  packs::Variant &record = variant.record;
  record.kernels.push_back(read_kernel(table));
  const auto source = table.file("source");
  if (!source && !defaults.source) {
    table.missing("source",
                  fmt::format("expected source = \"a file\" here or in {}", program_label));
  }
  variant.source = source ? *source : *defaults.source;
  record.options = defaults.options;
  record.requirements = read_requirements(table);
  if (const auto pixels = table.pair("pixels", kMaxPixels)) {
    record.pixels = {(*pixels)[0], (*pixels)[1], 1};
  }
  if (const auto local = table.pair("local_size", kMaxLocalSize)) {
    record.local_size = {(*local)[0], (*local)[1], 1};
  }
  record.arguments = read_own_arguments(document, table).value_or(defaults.arguments);
  read_host_check(table, &variant);
  const auto tolerance =
      table.numbers("tolerance", 1, {0, std::numeric_limits<float>::max(), false});
  if (!tolerance.empty()) record.tolerance = tolerance.front();
  read_stages(document, table, &record);
  return variant;
}

}  // namespace

bool is_kernel_name(std::string_view name) {
  return is_name(name) && !(name.front() >= '0' && name.front() <= '9') &&
         name.find_first_of("-.") == std::string_view::npos;
}

std::vector<std::string> read_requirements(const TableReader &table) {
  std::vector<std::string> names;
  for (const auto &name : table.strings("requires")) {
    if (!runtime::is_known_requirement(name.value)) {
      table.fail(name.at,
                 fmt::format("unknown requirement {} in {}", in_quotes(name.value), table.label()),
                 expected_one_of(name.value, runtime::known_requirements()));
    }
    names.push_back(name.value);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void require_for_merging(const TableReader &table, packs::Variant *record) {
  const auto merged = merged_items(record->options);
  const Position at = table.position();
  if (!merged.ok()) {
    const std::string &text = merged.status().message;
    const std::size_t line = text.find('\n');
    table.fail(at, fmt::format("{}: {}", record->name, text.substr(0, line)),
               text.substr(line + 1));
  }
  if (merged->option.empty()) return;
  auto &names = record->requirements;
  if (std::find(names.begin(), names.end(), "vendor:mali") == names.end()) {
    table.fail(at,
               fmt::format("{}: {} is an option of Mali's compiler", record->name, merged->option),
               "expected \"vendor:mali\" in requires");
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (record->local_size[0] == 0 || record->local_size[i] % merged->factor[i] == 0) continue;
    table.fail(at,
               fmt::format("{}: local_size is no multiple of {}, which {} demands", record->name,
                           multiple_text(merged->factor), merged->option),
               "expected such a multiple, or no local_size");
  }
  names.emplace_back(runtime::kNoGlobalOffset);
  names.push_back(std::string(runtime::kRangeMultiple) + multiple_text(merged->factor));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

void read_host_check(const TableReader &table, ManifestVariant *variant) {
  variant->prelude = table.file("prelude").value_or(std::filesystem::path());
  variant->il = table.boolean("il").value_or(variant->prelude.empty());
}

std::vector<ManifestVariant> read_variants(const ManifestText &document, const TableReader &table,
                                           const std::string &name, const Defaults &defaults,
                                           const std::string &program_label) {
  table.allow_only({"arguments", "il", "kernel", "local_size", "options", "pixels", "prelude",
                    "range", "requires", "source", "stages", "tolerance"});
  const ManifestVariant common = read_common(document, table, defaults, program_label);
  std::vector<ManifestVariant> variants;
  for (const OptionChoice &choice : read_option_matrix(document, table)) {
    variants.push_back(common);
    packs::Variant &record = variants.back().record;
    record.name = name + (choice.name.empty() ? "" : "." + choice.name);
    if (!record.options.empty() && !choice.options.empty()) record.options += ' ';
    record.options += choice.options;
    require_for_merging(table, &record);
  }
  return variants;
}

}  // namespace kiln::builder
