// SPDX-License-Identifier: Apache-2.0
// What a build costs beside a process that does nothing else than its compiling.
#pragma once

#include <chrono>

#include "builder/base/builder_status.hpp"
#include "builder/bench/figures.hpp"
#include "builder/device/device_info.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct BuildTimes {
  std::size_t rounds = 3;
  bool finish = false;  // both sides finish the binaries, too
  std::chrono::milliseconds timeout{120'000};
};

// Builds every variant that the device can run, `rounds` times in turn: by one bare process that
// opens the device once, compiles each, takes its binary, and if finishing is asked for launches it
// where a driver keeps what a launch compiles; by build_on_devices() with one job at
// a time and with two, which prove each binary, too. Nothing is taken from a store. The figures are
// medians. Fails where the bare process does, and with Code::requirement if there is no job.
Result<Figures> measure_build(const packs::Contents &base, const DeviceInfo &device,
                              const BuildTimes &times);

}  // namespace kiln::builder
