// SPDX-License-Identifier: Apache-2.0
// Tuning one kernel of an application by its recorded launches, in processes that may die.
#pragma once

#include <chrono>
#include <string>

#include "builder/device/device_info.hpp"
#include "builder/tune/tuned_program.hpp"

namespace kiln::builder {

struct LaunchJob {
  const DeviceInfo *device = nullptr;
  std::string pack_path;
  std::string program;
  std::string variant;
  const UnsizedLaunches *work = nullptr;
  double seconds = 1;                         // once the variant is loaded
  std::chrono::milliseconds timeout{60'000};  // on top, until the driver counts as dead
};

// Launches the kernel on memory that holds zeros with sizes that divide the range of each launch.
// The bytes of all memory afterwards must be those of a launch whose size the driver chooses: with
// the smallest and the greatest size before the search, and with the best one in the end, then on
// memory with a pattern, too, if the kernel survives that. The best size is better where the
// driver's is clearly_slower() in each of the launches. Memory and times of an application's own
// data are not known.
TunedLaunch tune_launches(const LaunchJob &job);

}  // namespace kiln::builder
