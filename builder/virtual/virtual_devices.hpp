// SPDX-License-Identifier: Apache-2.0
// The virtual devices that the user asks for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/machine/device_info.hpp"

namespace kiln::builder {

// A parsed "neo:skl,dg2", "mesa:vangogh", "nvidia.toml:sm_90" or "mali.toml".
struct VirtualSpec {
  std::string backend;              // "neo", "mesa", or the path of a description
  std::vector<std::string> models;  // not empty strings; no models for a description's one device
};
// Fails with Code::bad_argument unless the text is BACKEND:MODEL,... with a known backend, or the
// name of a description, and if a model of "neo" or "mesa" is not
// known.
Result<VirtualSpec> parse_virtual_spec(const std::string &text);

// Where backends and tools are.
struct VirtualTools {
  std::string neo_root{};                // of Intel's driver, as in find_neo_drivers()
  std::string mesa_root{};               // of Mesa, as in find_mesa()
  std::string mesa_program{};            // a Kiln of that root's architecture
  std::filesystem::path descriptions{};  // folder of the descriptions shipped with Kiln
};

struct VirtualDevices {
  std::vector<DeviceInfo> devices;  // in the order of the specs
  std::vector<Status> failures;     // of devices that were not found; each message names the device
  std::vector<std::string> notes;   // names given twice, and devices that another device's binaries
                                    // serve, since their binary keys are equal
};
// Finds the devices. Runs the compilers for their versions, and drivers to identify their devices.
// `present` are the devices of this machine that the build is for as well.
VirtualDevices find_virtual_devices(const std::vector<VirtualSpec> &specs,
                                    const VirtualTools &tools,
                                    const std::vector<DeviceInfo> &present = {});

}  // namespace kiln::builder
