// SPDX-License-Identifier: Apache-2.0
// The options that name devices that are not there, and what makes their binaries.
#pragma once

#include <string>
#include <vector>

#include "builder/cli/common.hpp"
#include "builder/virtual/virtual_devices.hpp"

namespace kiln::cli {

struct VirtualOptions {
  std::vector<std::string> specs;
  builder::VirtualTools tools;  // but clang, which is one of the host tools
};

// --virtual, and the options that name its tools and drivers.
void add_virtual_options(CLI::App &command, VirtualOptions *options);

// The devices of this machine that `selector` names, unless virtual ones alone are asked for, then
// those. Virtual devices that cannot be had are printed, and set `*exit_code`, unless no device is
// left: then it fails with Code::no_device. Fails with Code::bad_argument where `also`, compute
// capabilities as BuildOptions has them, are asked of no NVIDIA device that is there.
Result<std::vector<builder::DeviceInfo>> find_all_devices(const std::string &selector,
                                                          const VirtualOptions &options,
                                                          const std::string &clang,
                                                          const std::vector<std::uint32_t> &also,
                                                          int *exit_code);

}  // namespace kiln::cli
