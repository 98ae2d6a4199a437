// SPDX-License-Identifier: Apache-2.0
// Reading kernel arguments. As in toml_reader.hpp, faults are thrown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/manifest/toml_reader.hpp"
#include "builder/problem/program_shape.hpp"

namespace kiln::builder {

// The arguments of one program, variant or stage, whose label errors use.
std::vector<Argument> read_arguments(const ManifestText &document, const toml::array &array,
                                     const std::string &label);

// Those of the table's key "arguments"; nothing when it has none.
std::optional<std::vector<Argument>> read_own_arguments(const ManifestText &document,
                                                        const TableReader &table);

}  // namespace kiln::builder
