// SPDX-License-Identifier: Apache-2.0
// Binaries for Intel's GPUs by ocloc, the driver's own compiler as a program.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "builder/device/device_info.hpp"

namespace kiln::builder {

struct OclocTool {
  std::filesystem::path path;
  std::string driver_version;  // that takes its binaries as its own: "22.43.24595"
  std::string recipe;          // as VirtualDevice has it
};

// By path or as a name in PATH; empty: "ocloc". Fails with Code::not_found; the message names the
// package and the option.
Result<OclocTool> find_ocloc(const std::string &named);

// The GPU that ocloc has under that name. Fails with Code::bad_argument for a name that it does not
// know; the message lists what it does.
Result<DeviceInfo> ocloc_device(std::shared_ptr<const OclocTool> tool, const std::string &name);

}  // namespace kiln::builder
