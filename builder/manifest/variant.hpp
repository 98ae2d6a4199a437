// SPDX-License-Identifier: Apache-2.0
// Reads a variant: its arguments, and the combinations of its build options. As in toml_reader.hpp,
// faults are thrown.
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

// Returns the array `options` of a table, joined by spaces.
std::string read_options(const TableReader &table);

struct OptionChoice {
  // The set and the chosen values, joined by '-'; empty if there is no choice.
  std::string name;
  std::string options;                      // joined by spaces
  std::vector<std::string> requirements{};  // what the set requires
};

// Returns the combinations of the table `options` of `table`, in the order of its keys. A key is a
// macro, or an option if it begins with '-'; its value is one value or an array of values. A string
// or an integer is appended after "=", true means the option alone, false means leaving it out. If
// `options` is an array of strings or absent, there is one combination without a name.
std::vector<OptionChoice> read_option_matrix(const ManifestText &document,
                                             const TableReader &table);

// Options that belong together: a set's own choices, whose names begin with the set's name.
struct OptionSet {
  std::string name;
  std::vector<OptionChoice> choices;
};

// Returns the sets in the key "sets" of a table; none if the key is absent. An item is a table, or
// the name of one of `known`.
std::vector<OptionSet> read_sets(const ManifestText &document, const TableReader &table,
                                 const std::vector<OptionSet> &known = {});

// Returns the combinations of each set's choices with `choices`, called SET-CHOICE. The options are
// the choice's, then `between`, then the set's. Throws if there are too many combinations.
std::vector<OptionChoice> with_sets(const TableReader &table,
                                    const std::vector<OptionChoice> &choices,
                                    const std::string &between, const std::vector<OptionSet> &sets);

// Options with which Mali's compiler merges several work-items into one
// (-fkernel-vectorizer=DIMENSIONFACTOR and -fkernel-unroller=DIMENSIONFACTOR), and what they demand
// of a launch.
struct MergedItems {
  std::string option{};                          // the first such option; empty: none
  std::array<std::uint32_t, 3> factor{1, 1, 1};  // merged work-items in each dimension
};

// Returns the merged work-items of a variant's options, which are joined by spaces. Fails with
// Code::bad_input for an option without a dimension (x, y or z) and a factor (2, 4, 8 or 16):
// without them the compiler chooses, and launches cannot be checked against its choice. The second
// line of the message says what is expected.
Result<MergedItems> merged_items(std::string_view options);

// Returns "4x2", as in the requirement range_multiple.
std::string multiple_text(const std::array<std::uint32_t, 3> &factor);

// Returns the arguments in the table's key "arguments"; nothing if the key is absent.
std::optional<std::vector<Argument>> read_own_arguments(const ManifestText &document,
                                                        const TableReader &table);

// What a variant inherits from its program unless it has its own.
struct Defaults {
  std::string options;
  std::optional<std::filesystem::path> source;
  std::vector<Argument> arguments;
  std::vector<packs::Statistic> limits;
  std::vector<std::string> workarounds;
};

// Reads the array `workarounds` of a program or a variant; `defaults` if there is none.
std::vector<std::string> read_workarounds(const TableReader &table,
                                          const std::vector<std::string> &defaults);

// Reads the table `limits` of a program or a variant; limits that it does not name are `defaults`.
std::vector<packs::Statistic> read_limits(const ManifestText &document, const TableReader &table,
                                          const std::vector<packs::Statistic> &defaults);

// Returns one variant for each combination of `options`, named NAME, or NAME.CHOICE if there is a
// choice. Options that merge work-items add the requirements range_multiple and no_global_offset.
std::vector<ManifestVariant> read_variants(const ManifestText &document, const TableReader &table,
                                           const std::string &name, const Defaults &defaults,
                                           const std::string &program_label);

// Adds to a variant the requirements of its options that merge work-items, for devices and
// launches.
void require_for_merging(const TableReader &table, packs::Variant *record);

// Reads `local_sizes`: sorted, no duplicates; empty if the key is absent.
std::vector<std::array<std::uint32_t, 3>> read_local_sizes(const TableReader &table);

// Reads `requires`: sorted, no duplicates.
std::vector<std::string> read_requirements(const TableReader &table);

// Adds requirements; the result is sorted and has no duplicates.
void add_requirements(const std::vector<std::string> &more, std::vector<std::string> *names);

// Reads `prelude` and `il`.
void read_host_check(const TableReader &table, ManifestVariant *variant);

// Whether `name` is an identifier of OpenCL C.
bool is_kernel_name(std::string_view name);

}  // namespace kiln::builder
