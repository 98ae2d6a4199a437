// SPDX-License-Identifier: Apache-2.0
// Lists this machine's devices, and opens one in a child process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/machine/device_info.hpp"
#include "runtime/device/device.hpp"

namespace kiln::builder {

// Lists the devices in a child process. Fails with Code::no_opencl or Code::no_device if there is
// no OpenCL library, platform or device, and with Code::process if a driver died.
// If `libraries` is not null, sets it to the files of the libraries that the child had loaded.
Result<std::vector<DeviceInfo>> list_devices(std::vector<std::string> *libraries = nullptr);

// Returns the devices that a selector names: an index of the list, or a glob (* and ?), ignoring
// case, that must match the whole platform name or the whole device name. An empty selector names
// all devices.
std::vector<DeviceInfo> select_devices(const std::vector<DeviceInfo> &devices,
                                       const std::string &selector);

// Lists the devices, and returns those that the selector names; sets `*libraries` as list_devices()
// does. Fails with Code::no_device if there are none; the message then lists all devices.
Result<std::vector<DeviceInfo>> find_devices(const std::string &selector,
                                             std::vector<std::string> *libraries = nullptr);

struct OpenedDevice {
  std::shared_ptr<const runtime::Device> device;
  runtime::Handle<cl_context> context;

  // Loads OpenCL, finds the device again and makes a context. The device must still match `info`:
  // an index means nothing once a driver was replaced. Fails as load_and_list() does, with
  // Code::no_device if the device is gone or a different one, and with Code::opencl if no context
  // can be made.
  Status open(const DeviceInfo &info);
};

}  // namespace kiln::builder
