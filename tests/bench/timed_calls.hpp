// SPDX-License-Identifier: Apache-2.0
// Where the time of a start goes: the parts of the start, and the driver's calls in each. For one
// thread of one process.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/device/device.hpp"

namespace kiln::test {

enum class Part {
  none,
  device,  // identify it
  pack,    // open it
  loader,  // create it, with its overlay
  queue,
  load,
  kernels,
  arguments,
  launch,
  // Parts of a load, when its steps are taken one by one.
  choose,
  look_up,
  read,
  hash,
  guard,
  build,
  count
};

// Returns the device with a table of entry points that measure every call from now on.
std::shared_ptr<const runtime::Device> with_timed_calls(const runtime::Device &device);

// Ends the part that runs, and begins `part`. Does nothing unless calls are measured.
void begin_part(Part part);

// Returns each part that ended, in the order of time: {"part": PART, "ns": N, "calls": {NAME:
// [COUNT, NS]}}. Null if calls are not measured.
nlohmann::json part_times();

}  // namespace kiln::test
