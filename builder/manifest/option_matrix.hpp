// SPDX-License-Identifier: Apache-2.0
// Build options, and all combinations of them. As in toml_reader.hpp, faults are thrown.
#pragma once

#include <string>
#include <vector>

#include "builder/manifest/toml_reader.hpp"

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

}  // namespace kiln::builder
