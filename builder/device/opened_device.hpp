// SPDX-License-Identifier: Apache-2.0
// A device opened inside a child process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "runtime/device/device.hpp"

namespace kiln::builder {

// Loads OpenCL and lists its devices. Fails with Code::no_opencl, Code::no_device or Code::opencl;
// the message also says what was tried. For child processes alone: the parent loads no driver.
Status load_and_list(std::shared_ptr<const runtime::OpenCL> *cl,
                     std::vector<runtime::DeviceId> *ids);

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
