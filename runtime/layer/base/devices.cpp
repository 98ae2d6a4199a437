// SPDX-License-Identifier: Apache-2.0
// Opens each device for the runtime once, through the layer's own table of functions.
#include "runtime/layer/base/devices.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "runtime/load/build.hpp"
#include "runtime/opencl/query.hpp"

namespace kiln::layer {

kiln_status find_device(cl_device_id id, kiln_device **out, kiln_error *error) {
  static std::mutex &mutex = *new std::mutex;
  static auto &devices = *new std::unordered_map<cl_device_id, kiln_device *>;
  const std::lock_guard<std::mutex> lock(mutex);
  kiln_device *&device = devices[id];
  kiln_opencl opencl{std::shared_ptr<const runtime::OpenCL>(next_opencl(), [](const auto *) {})};
  const kiln_status status =
      device == nullptr ? kiln_device_from_cl(&opencl, id, &device, error) : KILN_OK;
  *out = device;
  return status;
}

Devices devices_of(cl_program program) {
  return runtime::query_values<Devices>([&](std::size_t room, void *out, std::size_t *size) {
           return next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, room, out, size);
         })
      .value_or(Devices());
}

cl_context context_of(cl_program program) {
  cl_context context = nullptr;
  next.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(context), &context, nullptr);
  return context;
}

cl_device_id only_device(cl_program program) {
  const Devices devices = devices_of(program);
  return devices.size() == 1 ? devices[0] : nullptr;
}

namespace {

// Returns the device's name; empty if the driver does not tell it.
std::string name_of(cl_device_id device) {
  return runtime::query_text([&](std::size_t room, void *out, std::size_t *size) {
           return next.clGetDeviceInfo(device, CL_DEVICE_NAME, room, out, size);
         })
      .value_or("");
}

}  // namespace

std::set<std::string> device_names(const Devices &devices) {
  std::set<std::string> names;
  for (const cl_device_id device : devices) {
    const std::string name = name_of(device);
    if (!name.empty()) names.insert(name);
  }
  return names;
}

bool contains(const Devices &devices, cl_device_id device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

bool contains_all(const Devices &devices, const Devices &others) {
  return std::all_of(others.begin(), others.end(),
                     [&](cl_device_id device) { return contains(devices, device); });
}

Devices different(const Devices &devices) {
  Devices found;
  std::vector<std::uint64_t> keys;
  for (const cl_device_id id : devices) {
    kiln_device *device = nullptr;
    if (find_device(id, &device, nullptr) != KILN_OK) continue;
    const std::uint64_t key = device->device->key().hash();
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    keys.push_back(key);
    found.push_back(id);
  }
  return found;
}

namespace {

runtime::Handle<cl_program> held(cl_program program) {
  next.clRetainProgram(program);
  return {program, next.clReleaseProgram};
}

runtime::Handle<cl_program> part_of(cl_program built, cl_device_id id) {
  kiln_device *device = nullptr;
  cl_context context = nullptr;
  packs::Bytes bytes;
  const bool known = find_device(id, &device, nullptr) == KILN_OK &&
                     next.clGetProgramInfo(built, CL_PROGRAM_CONTEXT, sizeof(context), &context,
                                           nullptr) == CL_SUCCESS &&
                     runtime::program_binary(*device->device, built, &bytes).ok();
  if (!known) return held(built);
  runtime::BuildOutcome part = runtime::build_program(
      *device->device, context, runtime::Form::binary, {bytes.data(), bytes.size()}, "", {});
  return part.error.ok() ? std::move(part.built.program) : held(built);
}

}  // namespace

std::vector<Part> parts_of(cl_program built, const Devices &devices) {
  std::vector<Part> parts;
  const Devices kinds = devices.size() == 1 ? devices : different(devices);
  for (const cl_device_id device : kinds) {
    parts.push_back({device, kinds.size() == 1 ? held(built) : part_of(built, device)});
  }
  return parts;
}

}  // namespace kiln::layer
