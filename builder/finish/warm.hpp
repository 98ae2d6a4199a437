// SPDX-License-Identifier: Apache-2.0
// Launches every program once, so that the driver's own caches, and an overlay, hold the code that
// the driver compiles.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/machine/device_info.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The times of one program in milliseconds, from its load to the end of its first launch: in a
// process that finds the caches as they were, and in the next process.
struct WarmRow {
  std::string program;
  std::string variant;  // the runtime's choice; empty if this device can run none
  std::string rung;     // in the second process
  double before = 0;
  double after = 0;
  bool launched = false;
  std::string only_loaded;  // why there was no launch although nothing failed; then times of loads
  Status status;
};

struct WarmOptions {
  std::string pack_path;
  std::string program;                         // empty: all
  std::string overlay;                         // folder; empty: none
  std::chrono::milliseconds timeout{120'000};  // for each process
};

// Uses the driver caches of the user. Each program has its own processes, so a driver that dies
// costs only that program.
std::vector<WarmRow> warm(
    const packs::Contents &contents, const DeviceInfo &device, const WarmOptions &options,
    const std::function<void(const std::string &, std::size_t done, std::size_t all)> &progress);

nlohmann::json to_json(const WarmRow &row);

}  // namespace kiln::builder
