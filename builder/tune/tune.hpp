// SPDX-License-Identifier: Apache-2.0
// Tuning: measures which work-group sizes and variants are fastest on a device.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "builder/machine/device_info.hpp"
#include "builder/run/reference.hpp"
#include "builder/tune/tuned_program.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct TuneOptions {
  std::string pack_path;              // file of the contents
  std::vector<std::string> programs;  // empty: all
  std::string variant;                // empty: all
  std::vector<ProblemSize> sizes;     // empty: the sizes in the manifest of each program
  double budget_seconds = 60;         // for each device
  ReferenceOptions reference;
  std::chrono::milliseconds timeout{60'000};  // for one variant, added to its share of the budget
};

// Maximum number of elements of a problem on a CPU, when no size was given.
inline constexpr std::uint64_t kMaxOnCpu = std::uint64_t{1} << 22;

// Called before each variant.
using TuneProgress =
    std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Measures one device of list_devices(). The result has every variant of the chosen programs at
// every size, either with times or with the reason why there are none. It also has every kernel
// that an application was seen to launch without a work-group size. Each variant is measured in a
// child process and gets an equal share of the budget that is left. If a named reference gives no
// result, tuning fails, so that nothing is tuned without the check that was asked for.
TunedDevice tune(const packs::Contents &contents, const DeviceInfo &device,
                 const TuneOptions &options, const TuneProgress &progress);

}  // namespace kiln::builder
