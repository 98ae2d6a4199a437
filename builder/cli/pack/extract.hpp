// SPDX-License-Identifier: Apache-2.0
// Writes source, SPIR-V and binaries of a pack as files.
#pragma once

#include "builder/cli/common.hpp"

namespace kiln::cli {

// Writes PROGRAM/VARIANT.cl, .32.spv, .64.spv and for each target .N.bin and .N.ptx into the
// folder, which is made if it is missing, and index.json, which says what belongs to which target.
// Prints the number of files, or the index; returns the exit code.
int extract_parts(const packs::Contents &contents, const std::string &folder, bool as_json);

}  // namespace kiln::cli
