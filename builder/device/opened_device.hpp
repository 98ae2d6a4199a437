// A device opened inside a child process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/device/device_info.hpp"
#include "runtime/device/device.hpp"

namespace kiln::builder {

// Loads OpenCL and lists its devices. Empty on success, else what went wrong and what was
// tried. For child processes alone: the parent loads no driver.
std::string load_and_list(std::shared_ptr<const runtime::OpenCL> *cl,
                          std::vector<runtime::DeviceId> *ids);

struct ChildDevice {
  std::shared_ptr<const runtime::Device> device;
  runtime::Handle<cl_context> context;

  // Loads OpenCL, finds the device again and makes a context. The device must still be
  // what the list said: an index means nothing once a driver was replaced. Empty on
  // success, else what went wrong.
  std::string open(const DeviceInfo &info);
};

}  // namespace kiln::builder
