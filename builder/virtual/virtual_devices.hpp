// SPDX-License-Identifier: Apache-2.0
// The devices that are not there, of what the user asks for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"

namespace kiln::builder {

// "nvidia:sm_75,sm_90", "amd.toml:gfx900" or "mali.toml" taken apart.
struct VirtualSpec {
  std::string backend;              // "neo", "nvidia", or the path of a description
  std::vector<std::string> models;  // none is empty; there are none for a description's one device
};
// Fails with Code::bad_argument unless it is BACKEND:MODEL,... with a known backend, or the name of
// a description, and where Intel has no product of a model's name.
Result<VirtualSpec> parse_virtual_spec(const std::string &text);

// Paths of tools, or names in PATH; what is empty is searched for.
struct VirtualTools {
  std::string clang{};
  std::string libclc{};
  std::string ptxas{};
  std::string root{};                    // of Intel's driver, as find_neo_drivers() takes it
  std::filesystem::path descriptions{};  // folder with those that ship with Kiln
};

struct VirtualDevices {
  std::vector<DeviceInfo> devices;  // in the order of the specs
  std::vector<Status> failures;     // of what is not among them; each message names it
  std::vector<std::string> notes;   // what was named twice, and devices that another one's binaries
                                    // serve, since their binary keys are equal
};
// Starts the compilers for their versions, and drivers to ask what they are. `present` are the
// devices of this machine that are built for as well.
VirtualDevices find_virtual_devices(const std::vector<VirtualSpec> &specs,
                                    const VirtualTools &tools,
                                    const std::vector<DeviceInfo> &present = {});

}  // namespace kiln::builder
