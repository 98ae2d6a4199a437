// SPDX-License-Identifier: Apache-2.0
// Tuning of one kernel of an application by its recorded launches, in processes that may die.
#pragma once

#include <chrono>
#include <string>

#include "builder/machine/device_info.hpp"
#include "builder/tune/tuned_program.hpp"

namespace kiln::builder {

struct TuneLaunchesRequest {
  const DeviceInfo *device = nullptr;
  std::string pack_path;
  std::string program;
  std::string variant;
  const UnsizedLaunches *work = nullptr;
  double seconds = 1;                         // counted from when the variant is loaded
  std::chrono::milliseconds timeout{60'000};  // added to `seconds`; then the driver counts as dead
};

// Launches the kernel on memory that holds zeros, with sizes that divide the range of each launch.
// Afterwards all memory must hold the same bytes as after a launch whose size the driver chose.
// This is compared for the smallest and the largest size before the search, and for the best size
// at the end; then for the best size on memory with a pattern, too, if the kernel survives such
// memory. The best size counts as better if the driver's size is clearly_slower() in each of the
// launches. Nothing is known about memory and times with the application's own data.
TunedLaunch tune_launches(const TuneLaunchesRequest &job);

}  // namespace kiln::builder
