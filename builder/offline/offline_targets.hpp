// SPDX-License-Identifier: Apache-2.0
// The devices that are not there, of what the user asks for.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"

namespace kiln::builder {

// "nvidia:sm_75,sm_90" taken apart, or "mali.toml".
struct OfflineSpec {
  std::string compiler;              // "nvidia", or "file" with the description's path as a device
  std::vector<std::string> devices;  // at least one, none empty
};
// Fails with Code::bad_argument unless it is COMPILER:DEVICE,... with a known compiler, or the name
// of a description.
Result<OfflineSpec> parse_offline_spec(const std::string &text);

// Paths of tools, or names in PATH; what is empty is searched for.
struct OfflineTools {
  std::string clang{};
  std::string libclc{};
  std::string ptxas{};
  std::string ocloc{};
};

struct OfflineTargets {
  std::vector<DeviceInfo> devices;  // in the order of the specs
  std::vector<Status> failures;     // of what is not among them; each message names it
  std::vector<std::string> notes;   // devices that another one's binaries serve, since their
                                    // binary keys are equal
};
// Starts the compilers for their versions. A device that is asked for twice is there once.
OfflineTargets find_offline_targets(const std::vector<OfflineSpec> &specs,
                                    const OfflineTools &tools);

}  // namespace kiln::builder
