#include "child_device.hpp"

namespace kiln::builder {

std::string ChildDevice::open(const DeviceInfo &info, const std::vector<std::string> &libraries) {
  auto cl = std::make_shared<runtime::OpenCL>();
  std::vector<const char *> names;
  for (const std::string &library : libraries) names.push_back(library.c_str());
  if (names.empty()) {
    const auto usual = runtime::default_opencl_candidates();
    names.assign(usual.names, usual.names + usual.count);
  }
  std::string tried;
  if (!runtime::load_opencl(names.data(), names.size(), cl.get(), &tried)) {
    return "no usable OpenCL library; tried:\n" + tried;
  }
  std::vector<runtime::DeviceId> ids;
  if (runtime::Error error = runtime::list_devices(*cl, &ids); !error.ok()) return error.message;
  if (info.index >= ids.size()) return "the device is gone";
  device = runtime::open_device(cl, ids[info.index]);
  if (device->key != runtime::key_text(info.description.key)) {
    return "the device at index " + std::to_string(info.index) + " is not the one that was listed";
  }
  runtime::Error error = runtime::create_context(*device, &context);
  return error.ok() ? std::string() : error.message;
}

}  // namespace kiln::builder
