// SPDX-License-Identifier: Apache-2.0
// Lists platforms and devices, opens one of them, and creates contexts.
#include "runtime/device/device.hpp"

#include <algorithm>

#include <pthread.h>

namespace kiln::runtime {
namespace {

// Of platforms, and of devices of one: more are a driver's mistake.
constexpr cl_uint kMaxCount = 4096;

// PoCL 3.1 kills the process when two threads are the first to ask it for its devices. Not a
// std::mutex: with some standard libraries a global one has a destructor.
pthread_mutex_t asking_for_devices = PTHREAD_MUTEX_INITIALIZER;

struct AskingForDevices {
  AskingForDevices() { pthread_mutex_lock(&asking_for_devices); }
  ~AskingForDevices() { pthread_mutex_unlock(&asking_for_devices); }
};

struct RetainingDevice : Device {
  Handle<cl_device_id> sub_device;
};

// A reference of a device that was made from another; nothing for any other device.
Handle<cl_device_id> retain_sub_device(const OpenCL &cl, cl_device_id id, unsigned version) {
  cl_device_id parent = nullptr;
  if (version < 102 || cl.clRetainDevice == nullptr || cl.clReleaseDevice == nullptr ||
      cl.clGetDeviceInfo(id, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent, nullptr) !=
          CL_SUCCESS ||
      parent == nullptr || cl.clRetainDevice(id) != CL_SUCCESS) {
    return {};
  }
  return {id, cl.clReleaseDevice};
}

}  // namespace

Status list_devices(const OpenCL &cl, std::vector<DeviceId> *out) {
  const AskingForDevices one_at_a_time;
  cl_uint count = 0;
  cl_int code = cl.clGetPlatformIDs(0, nullptr, &count);
  if (code != CL_SUCCESS || count == 0) {
    return {Code::no_device, code,
            packs::concat({"no OpenCL platform: clGetPlatformIDs returned ", cl_error_text(code),
                           " and ", packs::decimal(count), " platforms"})};
  }
  count = std::min(count, kMaxCount);
  std::vector<cl_platform_id> platforms(count);
  code = cl.clGetPlatformIDs(count, platforms.data(), nullptr);
  if (code != CL_SUCCESS) return {Code::no_device, code, "clGetPlatformIDs failed"};
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) {
      continue;
    }
    devices = std::min(devices, kMaxCount);
    std::vector<cl_device_id> ids(devices);
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr) !=
        CL_SUCCESS) {
      continue;
    }
    for (cl_device_id id : ids) out->push_back({platform, id});
  }
  if (!out->empty()) return {};
  return Status::error(Code::no_device,
                       {"no OpenCL device: ", packs::decimal(count), " platforms have none"});
}

std::shared_ptr<const Device> open_device(std::shared_ptr<const OpenCL> cl, DeviceId id) {
  auto device = std::make_shared<RetainingDevice>();
  device->platform = id.platform;
  device->id = id.device;
  std::vector<std::string> extensions;
  device->identity = query_identity(*cl, id.platform, id.device, &extensions);
  device->sub_device = retain_sub_device(
      *cl, id.device, parse_opencl_version(device->identity.text(Field::device_version)));
  device->description = describe(device->identity);
  device->capabilities =
      query_capabilities(*cl, id.device, device->identity, std::move(extensions));
  device->capabilities.profile = device->description.profile;
  device->cl = std::move(cl);
  return device;
}

Status create_context(const Device &device, Handle<cl_context> *out, const ContextHints &hints,
                      unsigned *applied) {
  cl_context_properties properties[kContextProperties] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform), 0};
  unsigned added = add_context_hints(device.capabilities, hints, &properties[2]);
  for (;;) {
    cl_int code = CL_SUCCESS;
    Handle<cl_context> made(
        device.cl->clCreateContext(properties, 1, &device.id, nullptr, nullptr, &code),
        device.cl->clReleaseContext);
    if (made && code == CL_SUCCESS) {
      *out = std::move(made);
      if (applied != nullptr) *applied = added;
      return {};
    }
    if (added == 0) return cl_failure("clCreateContext", code);
    added = 0;
    properties[2] = 0;
  }
}

Status read_timers(const Device &device, cl_ulong *at_device, cl_ulong *at_host) {
  const OpenCL &cl = *device.cl;
  cl_ulong resolution = 0;  // 0 is how a platform says that it has none
  if (parse_opencl_version(device.identity.text(Field::device_version)) < 201 ||
      cl.clGetDeviceAndHostTimer == nullptr ||
      cl.clGetPlatformInfo(device.platform, CL_PLATFORM_HOST_TIMER_RESOLUTION, sizeof(resolution),
                           &resolution, nullptr) != CL_SUCCESS ||
      resolution == 0) {
    return Status::error(Code::requirement, "the device has no clGetDeviceAndHostTimer");
  }
  const cl_int code = cl.clGetDeviceAndHostTimer(device.id, at_device, at_host);
  return code == CL_SUCCESS ? Status() : cl_failure("clGetDeviceAndHostTimer", code);
}

std::string device_label(std::string_view name, std::string_view driver_version) {
  return packs::concat({name, " (driver ", driver_version, ")"});
}

}  // namespace kiln::runtime
