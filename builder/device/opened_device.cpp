#include "builder/device/opened_device.hpp"

namespace kiln::builder {

std::string load_and_list(std::shared_ptr<const runtime::OpenCL> *cl,
                          std::vector<runtime::DeviceId> *ids) {
  auto table = std::make_shared<runtime::OpenCL>();
  const auto usual = runtime::default_opencl_candidates();
  std::string tried;
  if (!runtime::load_opencl(usual.names, usual.count, table.get(), &tried)) {
    return "no usable OpenCL library; tried:\n" + tried;
  }
  const packs::Status error = runtime::list_devices(*table, ids);
  if (!error.ok()) return error.message + "\nOpenCL library:\n" + tried;
  *cl = std::move(table);
  return {};
}

std::string ChildDevice::open(const DeviceInfo &info) {
  std::shared_ptr<const runtime::OpenCL> cl;
  std::vector<runtime::DeviceId> ids;
  if (std::string error = load_and_list(&cl, &ids); !error.empty()) return error;
  if (info.index >= ids.size()) return "the device is gone";
  device = runtime::open_device(cl, ids[info.index]);
  if (device->key != runtime::key_text(info.description.key)) {
    return "the device at index " + std::to_string(info.index) + " is not the one that was listed";
  }
  packs::Status error = runtime::create_context(*device, &context);
  return error.ok() ? std::string() : error.message;
}

}  // namespace kiln::builder
