// SPDX-License-Identifier: Apache-2.0
// Reading a variant: its arguments, and the combinations of its build options. As in
// toml_reader.hpp, faults are thrown.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/manifest/model.hpp"
#include "builder/manifest/toml_reader.hpp"
#include "builder/problem/program_shape.hpp"

namespace kiln::builder {

// The array `options` of a table, joined by spaces.
std::string read_options(const TableReader &table);

struct OptionChoice {
  std::string name;     // values of what there is a choice of, joined by '-'; empty: of nothing
  std::string options;  // joined by spaces
};

// The combinations of the table `options` of `table`, in the order of its keys: a key is a macro,
// or an option if it begins with '-'; its value is one value or an array of them. A string or an
// integer follows behind "=", true is the option alone, false is to be without it. Or `options` is
// an array of strings, which is one choice without a name, as its absence is.
std::vector<OptionChoice> read_option_matrix(const ManifestText &document,
                                             const TableReader &table);

// Options with which Mali's compiler makes one work-item of several, and what they demand of a
// launch: what is merged by -fkernel-vectorizer=DIMENSIONFACTOR and
// -fkernel-unroller=DIMENSIONFACTOR.
struct MergedItems {
  std::string option{};                          // the first of them; empty: none is there
  std::array<std::uint32_t, 3> factor{1, 1, 1};  // work-items in each dimension
};

// Of a variant's options, joined by spaces. Fails with Code::bad_input, in two lines of which the
// second says what is expected, for an option without a dimension (x, y or z) and a factor (2, 4, 8
// or 16): without them it is the compiler who chooses, and no launch can be held to that.
Result<MergedItems> merged_items(std::string_view options);

// "4x2", as the requirement range_multiple has it.
std::string multiple_text(const std::array<std::uint32_t, 3> &factor);

// Those of the table's key "arguments"; nothing when it has none.
std::optional<std::vector<Argument>> read_own_arguments(const ManifestText &document,
                                                        const TableReader &table);

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
