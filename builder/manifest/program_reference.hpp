// SPDX-License-Identifier: Apache-2.0
// Reading what a program's results are compared with. As in toml_reader.hpp, faults are thrown.
#pragma once

#include <map>
#include <string>

#include "builder/manifest/model.hpp"
#include "builder/manifest/toml_reader.hpp"
#include "builder/problem/program_shape.hpp"

namespace kiln::builder {

// The program's "reference", checked against its variants, of which `tables` has the tables; empty
// when it names none. A file must be there and have the size of the outputs; a library need not
// have been built yet.
std::string read_reference(const TableReader &table, const ManifestProgram &program,
                           const std::map<std::string, TableReader> &tables);

}  // namespace kiln::builder
