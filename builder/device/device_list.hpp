// SPDX-License-Identifier: Apache-2.0
// The devices of this machine.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"

namespace kiln::builder {

// Asks in a process of its own. Fails with Code::no_opencl or Code::no_device if there is no OpenCL
// library, platform or device, and with Code::process if a driver died.
Result<std::vector<DeviceInfo>> list_devices();

// The devices that a selector names: an index of the list, or a glob (* and ?), without
// regard to case, over the platform's name and the device's name; it may match a part of
// neither, but the whole of either. An empty selector names all.
std::vector<DeviceInfo> select_devices(const std::vector<DeviceInfo> &devices,
                                       const std::string &selector);

}  // namespace kiln::builder
