// SPDX-License-Identifier: Apache-2.0
// What packs cost: their size in each form, decoding, opening and finding in a large one, merging.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/bench/figures.hpp"

namespace kiln::builder {

// Writes the packs as one for each purpose, below a temporary folder, and reads all binaries back:
// sizes against one solid stream of all blobs, and the time of decoding one binary.
Result<Figures> measure_forms(const std::vector<std::string> &packs);

struct PackScale {
  std::size_t targets = 1000;
  std::size_t variants = 100;  // each target has a binary of each
  std::size_t packs = 100;     // that are merged at once
};

// Writes, opens and searches a pack of that size, and merges packs to it, below a temporary folder.
// Each heavy step runs in a process of its own, whose memory is told. The caller is
// single-threaded.
Result<Figures> measure_scale(const PackScale &scale);

}  // namespace kiln::builder
