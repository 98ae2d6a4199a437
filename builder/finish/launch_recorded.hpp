// SPDX-License-Identifier: Apache-2.0
// Launching the kernels of an application's program as it was seen to launch them, on memory of the
// same sizes that holds zeros.
#pragma once

#include <vector>

#include "builder/finish/launch_twice.hpp"
#include "builder/launch/recorded_launch.hpp"
#include "runtime/device/device.hpp"

namespace kiln::builder {

// Launches each of them three times on the built program, each to its end; `out` has the one that
// compiles most, and whether the device executes commands at all. Fails with Code::opencl, with
// Code::over_limit if a launch takes over 1 GiB, and with Code::requirement if something of
// it was not recorded. For processes that may end: what kernels do with zeros is not known.
//
// Those of `tuned` are launched, too; what the driver refuses of them the layer leaves to it.
// `memory`, if it is not null, gets a hash of each launch's memory after its repetitions.
Status launch_recorded(const runtime::Device &device, cl_program program,
                       const std::vector<RecordedLaunch> &launches,
                       const std::vector<RecordedLaunch> &tuned, FirstLaunch *out,
                       std::vector<std::uint64_t> *memory = nullptr);

}  // namespace kiln::builder
