// SPDX-License-Identifier: Apache-2.0
// What packs cost: their size in each form, and decoding.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/bench/figures.hpp"

namespace kiln::builder {

// Writes the packs as one for each purpose, below a temporary folder, and reads all binaries back:
// sizes against one solid stream of all blobs, and the time of decoding one binary.
Result<Figures> measure_forms(const std::vector<std::string> &packs);

}  // namespace kiln::builder
