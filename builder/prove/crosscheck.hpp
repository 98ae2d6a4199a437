// SPDX-License-Identifier: Apache-2.0
// Cross-checking: finds out by trying which other targets' binaries a device takes natively.
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
  bool all = false;                            // also targets of other profiles
  ReferenceOptions references{};               // references to compare results with
};

// How a device took a target's binaries.
struct CrossCheckOutcome {
  std::size_t device = 0;                                  // index in the devices given
  std::size_t target = 0;                                  // index in the contents' targets
  packs::CrossResult result = packs::CrossResult::native;  // worst result of the binaries
  std::size_t binaries = 0;                                // number of binaries tried
  std::string reason;  // driver's message for the worst, or how it died; empty if native
  std::string output;  // last output of a driver before it died
};

// Called before each binary.
using CrossCheckProgress =
    std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Gives each device (from list_devices()) the binaries of all other targets of its profile, each
// binary in a process of its own, as the runtime would: hash, create, build, every kernel. A binary
// that is taken natively is launched in another process, and is wrong if its results differ from
// the program's reference, or from the device's own binary if there is no reference. Leaves out
// binaries whose variant is not in the pack or needs what the device lacks, targets without any
// other binary, and targets with other address bits. After a crash or a hang the target's other
// binaries are not tried. Devices with the same key are checked once.
//
// `pack` is the file of the contents. Fails with the blob's fault if a blob of the pack cannot be
// read, and with Code::io_error if a device is gone; then there are no outcomes.
Status cross_check(const packs::Contents &contents, const std::string &pack,
                   const std::vector<DeviceInfo> &devices, const CrossCheckOptions &options,
                   const CrossCheckProgress &progress, std::vector<CrossCheckOutcome> *outcomes);

// Returns the outcomes as a pack's records; the result has nothing else.
packs::Contents records_of(const packs::Contents &contents, const std::vector<DeviceInfo> &devices,
                           const std::vector<CrossCheckOutcome> &outcomes);

}  // namespace kiln::builder
