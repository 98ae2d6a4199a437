// SPDX-License-Identifier: Apache-2.0
// The part of kiln build for GPUs that are not there, by their vendor's own driver.
#pragma once

#include <string>
#include <vector>

#include "builder/build/device_build.hpp"
#include "builder/cli/common.hpp"

namespace kiln::cli {

struct VirtualOptions {
  std::vector<std::string> specs;  // empty: none are asked for
  std::string root;                // empty: this machine's driver
};

// --virtual and --root.
void add_virtual_options(CLI::App &command, VirtualOptions *options);

struct VirtualRequest {
  const VirtualOptions &options;
  const packs::Contents &base;
  const packs::Contents &earlier;        // what stands at the output's place
  std::vector<std::string> build_flags;  // of `kiln build`, for each device
};

// Runs `kiln build` once more for each device, in the environment that makes the driver that GPU,
// and adds to `result` what these builds made, counted and could not do. They write to standard
// error themselves. Prints what is wrong with a device and goes on with the next; gives the number
// of devices that were built for, and sets `*exit_code` where there are others. Fails where there
// is no driver at all, with the codes of find_virtual_drivers(), and with Code::failed.
Result<std::size_t> build_virtual_devices(const VirtualRequest &request,
                                          builder::BuildResult *result, int *exit_code);

}  // namespace kiln::cli
