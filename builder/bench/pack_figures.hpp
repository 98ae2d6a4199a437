// SPDX-License-Identifier: Apache-2.0
// What packs cost: their size in each form, decoding, opening and finding in a large one, merging.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// One measured number, and what it should be.
struct PackFigure {
  std::string what;
  double value = 0;
  std::string unit;
  std::optional<double> most{};   // goal: at most this
  std::optional<double> least{};  // goal: at least this
  bool met() const { return (!most || value <= *most) && (!least || value >= *least); }
};
using PackFigures = std::vector<PackFigure>;

// Writes the packs as one for each purpose, below a temporary folder, and reads all binaries back:
// sizes against one solid stream of all blobs, and the time of decoding one binary.
Result<PackFigures> measure_forms(const std::vector<std::string> &packs);

struct PackScale {
  std::size_t targets = 1000;
  std::size_t variants = 100;  // each target has a binary of each
  std::size_t packs = 100;     // that are merged at once
};

// Writes, opens and searches a pack of that size, and merges packs to it, below a temporary folder.
// Each heavy step runs in a process of its own, whose memory is told. The caller is
// single-threaded.
Result<PackFigures> measure_scale(const PackScale &scale);

// A table, goals beside figures, and JSON.
std::string figures_text(const PackFigures &figures);
nlohmann::json to_json(const PackFigures &figures);

}  // namespace kiln::builder
