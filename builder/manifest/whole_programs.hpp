// SPDX-License-Identifier: Apache-2.0
// Programs as applications have them: a source with many kernels, built with several options, of
// which Kiln launches nothing itself. As in toml_reader.hpp, faults are thrown.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "builder/manifest/model.hpp"
#include "builder/manifest/toml_reader.hpp"

namespace kiln::builder {

// Whether a program's table is one of these: it has the key `kernels`.
bool has_whole_programs(const TableReader &table);

// Whether `source` has one of * ? [ in the name of the file.
bool has_pattern(const TableReader &table);

// A program for each file and each combination of options, each with one variant, "default": NAME,
// or with a pattern the file's name without its extension; behind a '.' the combination's name.
// Files in `taken` are left out of a pattern.
std::vector<ManifestProgram> read_whole_programs(const ManifestText &document,
                                                 const TableReader &table, const std::string &name,
                                                 const std::set<std::filesystem::path> &taken);

}  // namespace kiln::builder
