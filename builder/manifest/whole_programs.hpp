// SPDX-License-Identifier: Apache-2.0
// Applications' own programs: a source with many kernels, built with several options, whose kernels
// Kiln does not launch itself. As in toml_reader.hpp, faults are thrown.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "builder/manifest/model.hpp"
#include "builder/manifest/toml_reader.hpp"

namespace kiln::builder {

// Whether the table describes such a program: it has the key `kernels`.
bool has_whole_programs(const TableReader &table);

// Whether `source` has one of * ? [ in the file's name.
bool has_pattern(const TableReader &table);

// Returns a program for each file and each combination of sets and options, each with one variant,
// "default". The program's name is NAME, or with a pattern the file's name without its extension,
// followed by '.' and the combination's name. A pattern skips files in `taken`.
std::vector<ManifestProgram> read_whole_programs(const ManifestText &document,
                                                 const TableReader &table, const std::string &name,
                                                 const std::set<std::filesystem::path> &taken);

}  // namespace kiln::builder
