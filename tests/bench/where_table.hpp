// SPDX-License-Identifier: Apache-2.0
// The table of where the microseconds of a start go.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kiln::test {

// Starts of one device, each with what part_times() returned. The steps come from processes of
// their own, which took the steps of each load one by one.
struct WhereSamples {
  std::vector<nlohmann::json> floor;
  std::vector<nlohmann::json> kiln;
  std::vector<nlohmann::json> overlay;
  std::vector<nlohmann::json> kiln_steps;
  std::vector<nlohmann::json> overlay_steps;
};

// Returns the table: medians in microseconds, once per start or per program, and the calls of the
// driver. A load's rows add up to the load, since the last of them is what the other rows leave.
std::string where_table(const WhereSamples &samples, std::size_t programs);

}  // namespace kiln::test
