// SPDX-License-Identifier: Apache-2.0
// What tuning found for the kernels of an application, whose launches were recorded. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/launch/recorded_launch.hpp"
#include "builder/tune/tuned_kernel.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Launches of one kernel and size class, which get one size, by work-items from the most.
struct UnsizedLaunches {
  std::string kernel;
  packs::SizeClass size_class = packs::SizeClass::small;
  std::vector<RecordedLaunch> launches;  // at least one
};

// Of those launches that left the work-group size to the driver, by kernel and size class.
std::vector<UnsizedLaunches> unsized_launches(const std::vector<RecordedLaunch> &launches);

std::uint64_t work_items(const RecordedLaunch &launch);

// What came of tuning a kernel of an application.
enum class LaunchEnd : std::uint8_t {
  better,         // than the driver's choice, in each of its launches
  as_good,        // the driver's choice is
  refused,        // it does not compute the same with each size, or it ends the process
  without_times,  // it cannot be measured here
  used_up,        // no budget was left for it
};

// A kernel's recorded launches of one size class that left the work-group size to the driver.
struct TunedLaunch {
  std::string program;
  std::string variant;
  packs::SizeClass size_class = packs::SizeClass::small;
  std::size_t launches = 0;
  NDSize global{1, 1, 1};  // of the largest, which the times are of
  LaunchEnd end = LaunchEnd::without_times;
  std::string reason;                // unless it is better
  std::string timer;                 // as a variant's
  bool compared_on_pattern = false;  // or on memory of zeros alone
  TunedKernel kernel;
};

nlohmann::json to_json(const TunedLaunch &tuned);
TunedLaunch tuned_launch_from(const nlohmann::json &json);

// A row for each size that is better than the driver's.
std::vector<packs::Tuning> launch_rows(const std::vector<TunedLaunch> &tuned,
                                       const std::string &driver);

// Whether an older row of the device is void: its kernel was measured again for that class, or is
// not to be given a size.
bool replaces(const TunedLaunch &tuned, const packs::Tuning &old);

}  // namespace kiln::builder
