// SPDX-License-Identifier: Apache-2.0
// The options that name devices that are not there, and their compilers.
#pragma once

#include <string>
#include <vector>

#include "builder/cli/common.hpp"
#include "builder/offline/offline_targets.hpp"

namespace kiln::cli {

struct OfflineOptions {
  std::vector<std::string> specs;
  builder::OfflineTools tools;  // but clang, which is one of the host tools
};

// --offline, and the options that name its tools.
void add_offline_options(CLI::App &command, OfflineOptions *options);

// The devices of this machine that `selector` names, unless offline ones alone are asked for, then
// those. Offline devices that cannot be had are printed, and set `*exit_code`, unless no device is
// left: then it fails with Code::no_device.
Result<std::vector<builder::DeviceInfo>> find_all_devices(const std::string &selector,
                                                          const OfflineOptions &options,
                                                          const std::string &clang, int *exit_code);

}  // namespace kiln::cli
