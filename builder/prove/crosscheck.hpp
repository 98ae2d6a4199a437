// SPDX-License-Identifier: Apache-2.0
// Cross-checking: which other targets' binaries a device takes natively, by trying.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "builder/launch/reference.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct CrossCheckOptions {
  std::chrono::milliseconds timeout{120'000};  // for each binary
  bool all = false;                            // targets of other profiles, too
  ReferenceOptions references{};               // of what results are compared with
};

// How a device took a target's binaries.
struct CrossCheckOutcome {
  std::size_t device = 0;                                  // index in the devices given
  std::size_t target = 0;                                  // index in the contents' targets
  packs::CrossResult result = packs::CrossResult::native;  // the worst of the binaries'
  std::size_t binaries = 0;                                // that were tried
  std::string reason;  // what the driver said of the worst, or how it died; empty when native
  std::string output;  // the last that a driver wrote before it died
};

// Told before each binary.
using CrossCheckProgress =
    std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Gives each device (as list_devices gave them) the binaries of all other targets of its
// profile, each binary in a process of its own, as the runtime would: hash, create, build, every
// kernel. One that is taken natively is launched in another process, and is wrong where its results
// are not those of the program's reference, or of the device's own binary if there is no reference.
// A binary whose variant is not in the pack, or needs what the device lacks, is left out; so are
// targets without another and those of other address bits. After a crash or a
// hang the target's other binaries are not tried. Devices with one key are checked once.
//
// `pack` is the file that the contents were read from. A blob of the pack that cannot be read gives
// its fault, a device that is gone io_error; then there are no outcomes.
Status cross_check(const packs::Contents &contents, const std::string &pack,
                   const std::vector<DeviceInfo> &devices, const CrossCheckOptions &options,
                   const CrossCheckProgress &progress, std::vector<CrossCheckOutcome> *outcomes);

// The outcomes as a pack's records; nothing else is in the result.
packs::Contents records_of(const packs::Contents &contents, const std::vector<DeviceInfo> &devices,
                           const std::vector<CrossCheckOutcome> &outcomes);

}  // namespace kiln::builder
