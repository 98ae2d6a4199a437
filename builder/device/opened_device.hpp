// SPDX-License-Identifier: Apache-2.0
// This machine's devices: their list, and what a child process does before it works on one: it
// moves the driver's caches and opens the device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "runtime/device/device.hpp"

namespace kiln::builder {

// Asks in a process of its own. Fails with Code::no_opencl or Code::no_device if there is no OpenCL
// library, platform or device, and with Code::process if a driver died.
Result<std::vector<DeviceInfo>> list_devices();

// The devices that a selector names: an index of the list, or a glob (* and ?), without
// regard to case, over the platform's name and the device's name; it may match a part of
// neither, but the whole of either. An empty selector names all.
std::vector<DeviceInfo> select_devices(const std::vector<DeviceInfo> &devices,
                                       const std::string &selector);

// Gives this process, before it loads a driver, caches of its own below `folder`, which are empty
// if the folder is and which are one file each: for a process that the user's caches must not help,
// or whose caches must be known. Caches that cannot be moved are switched off.
void use_driver_caches(const std::string &folder);

struct OpenedDevice {
  std::shared_ptr<const runtime::Device> device;
  runtime::Handle<cl_context> context;

  // Loads OpenCL, finds the device again and makes a context. The device must still be
  // what the list said: an index means nothing once a driver was replaced. Fails as
  // load_and_list() does, with Code::no_device if the device is gone or another, and with
  // Code::opencl if it gives no context.
  Status open(const DeviceInfo &info);
};

}  // namespace kiln::builder
