// SPDX-License-Identifier: Apache-2.0
// Tuning: the work-group sizes and the variants that are fastest on a device, by measurement.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "builder/device/device_info.hpp"
#include "builder/launch/reference.hpp"
#include "builder/tune/tuned_program.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct TuneOptions {
  std::string pack_path;              // of the contents
  std::vector<std::string> programs;  // empty: all
  std::string variant;                // empty: all
  std::vector<ProblemSize> sizes;     // empty: of each program as its manifest says
  double budget_seconds = 60;         // of each device
  ReferenceOptions reference;
  std::chrono::milliseconds timeout{60'000};  // of one variant, on top of its part of the budget
};

// Elements of a problem that a CPU gets when no size was given.
inline constexpr std::uint64_t kMaxOnCpu = std::uint64_t{1} << 22;

// Called before each variant.
using TuneProgress =
    std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Measures one device of list_devices(). The result has every variant of the chosen programs at
// every size, with times or with the reason why there are none, and every kernel that an
// application was seen to launch without a work-group size. Each variant is measured in a child
// process and gets an equal share of the budget that is left. If a reference is named and gives no
// result, tuning fails: nothing is tuned that should have been checked and was not.
TunedDevice tune(const packs::Contents &contents, const DeviceInfo &device,
                 const TuneOptions &options, const TuneProgress &progress);

}  // namespace kiln::builder
