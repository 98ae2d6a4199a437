// SPDX-License-Identifier: Apache-2.0
// What loads of all programs of a pack would come to, for people. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kiln::builder {

// What the reports of dry_run_loads() say together.
struct DryRunText {
  std::vector<std::string> lines;  // of each program: its rung, its time, and why it has no binary
  std::string sum;                 // how many programs are compiled, and for how long
  std::size_t failed = 0;          // number of programs that no rung gives
};

DryRunText dry_run_text(const std::vector<nlohmann::json> &reports);

}  // namespace kiln::builder
