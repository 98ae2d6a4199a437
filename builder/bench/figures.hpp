// SPDX-License-Identifier: Apache-2.0
// Measured numbers beside what they should be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kiln::builder {

// One measured number, and what it should be.
struct Figure {
  std::string what;
  double value = 0;
  std::string unit;
  std::optional<double> most{};   // goal: at most this
  std::optional<double> least{};  // goal: at least this
  bool met() const { return (!most || value <= *most) && (!least || value >= *least); }
};
using Figures = std::vector<Figure>;

// A table, goals beside figures, and JSON.
std::string figures_text(const Figures &figures);
nlohmann::json to_json(const Figures &figures);

}  // namespace kiln::builder
