// SPDX-License-Identifier: Apache-2.0
// Finds the device again in the list that this process gets, by index and binary key.
#include "builder/device/opened_device.hpp"

namespace kiln::builder {

Status load_and_list(std::shared_ptr<const runtime::OpenCL> *cl,
                     std::vector<runtime::DeviceId> *ids) {
  auto table = std::make_shared<runtime::OpenCL>();
  const auto usual = runtime::default_opencl_candidates();
  std::string tried;
  if (Status s = runtime::load_opencl(usual.names, usual.count, table.get(), &tried); !s.ok()) {
    return s;
  }
  if (Status status = runtime::list_devices(*table, ids); !status.ok()) {
    status.message += "\nOpenCL library:\n" + tried;
    return status;
  }
  *cl = std::move(table);
  return {};
}

Status OpenedDevice::open(const DeviceInfo &info) {
  std::shared_ptr<const runtime::OpenCL> cl;
  std::vector<runtime::DeviceId> ids;
  if (Status s = load_and_list(&cl, &ids); !s.ok()) return s;
  if (info.index >= ids.size()) return {Code::no_device, "the device is gone"};
  device = runtime::open_device(cl, ids[info.index]);
  if (device->key().text() != info.description.key.text()) {
    return {Code::no_device, "the device at index " + std::to_string(info.index) +
                                 " is not the one that was listed"};
  }
  return runtime::create_context(*device, &context);
}

}  // namespace kiln::builder
