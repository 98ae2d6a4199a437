// SPDX-License-Identifier: Apache-2.0
// Reading a variant. As in toml_reader.hpp, faults are thrown.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "builder/manifest/model.hpp"
#include "builder/manifest/toml_reader.hpp"
#include "builder/problem/program_shape.hpp"

namespace kiln::builder {

// What a variant takes from its program unless it has its own.
struct Defaults {
  std::string options;
  std::optional<std::filesystem::path> source;
  std::vector<Argument> arguments;
};

// One for each combination of `options`: NAME, or with a choice NAME.CHOICE. Options that merge
// work-items bring the requirements range_multiple and no_global_offset.
std::vector<ManifestVariant> read_variants(const ManifestText &document, const TableReader &table,
                                           const std::string &name, const Defaults &defaults,
                                           const std::string &program_label);

// Adds to a variant what its options that merge work-items demand of a device and of launches.
void require_for_merging(const TableReader &table, packs::Variant *record);

// `requires`: sorted, each once.
std::vector<std::string> read_requirements(const TableReader &table);

// `prelude` and `il`.
void read_host_check(const TableReader &table, ManifestVariant *variant);

// An identifier of OpenCL C.
bool is_kernel_name(std::string_view name);

}  // namespace kiln::builder
