#include "device.hpp"

namespace kiln::runtime {

Error list_devices(const OpenCL &cl, std::vector<DeviceId> *out) {
  cl_uint count = 0;
  cl_int code = cl.clGetPlatformIDs(0, nullptr, &count);
  if (code != CL_SUCCESS || count == 0) {
    return {KILN_ERROR_NO_DEVICE, code,
            "no OpenCL platform: clGetPlatformIDs returned " + cl_error_text(code) + " and " +
                std::to_string(count) + " platforms"};
  }
  std::vector<cl_platform_id> platforms(count);
  code = cl.clGetPlatformIDs(count, platforms.data(), nullptr);
  if (code != CL_SUCCESS) return {KILN_ERROR_NO_DEVICE, code, "clGetPlatformIDs failed"};
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) {
      continue;
    }
    std::vector<cl_device_id> ids(devices);
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr) !=
        CL_SUCCESS) {
      continue;
    }
    for (cl_device_id id : ids) out->push_back({platform, id});
  }
  if (!out->empty()) return {};
  return failure(KILN_ERROR_NO_DEVICE,
                 "no OpenCL device: " + std::to_string(count) + " platforms have none");
}

std::shared_ptr<const Device> open_device(std::shared_ptr<const OpenCL> cl, DeviceId id) {
  auto device = std::make_shared<Device>();
  device->platform = id.platform;
  device->id = id.device;
  std::vector<std::string> extensions;
  device->identity = query_identity(*cl, id.platform, id.device, &extensions);
  device->description = describe(device->identity);
  device->capabilities =
      query_capabilities(*cl, id.device, device->identity, std::move(extensions));
  device->capabilities.profile = device->description.profile;
  device->key = key_text(device->description.key);
  device->cl = std::move(cl);
  return device;
}

Error create_context(const Device &device, Handle<cl_context> *out) {
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform), 0};
  cl_int code = CL_SUCCESS;
  cl_context context =
      device.cl->clCreateContext(properties, 1, &device.id, nullptr, nullptr, &code);
  if (context == nullptr || code != CL_SUCCESS) return cl_failure("clCreateContext", code);
  *out = Handle<cl_context>(context, device.cl->clReleaseContext);
  return {};
}

std::string device_label(const std::string &name, const std::string &driver_version) {
  return name + " (driver " + driver_version + ")";
}

}  // namespace kiln::runtime
