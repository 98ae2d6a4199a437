// SPDX-License-Identifier: Apache-2.0
// Remembers parents, and asks the driver whether a program has the sub-device.
#include "runtime/layer/serve/sub_devices.hpp"

#include <map>
#include <mutex>

namespace kiln::layer {
namespace {

std::mutex &mutex() {
  static std::mutex &the_mutex = *new std::mutex;
  return the_mutex;
}

// Never destroyed, and nothing is removed: a handle that the driver reuses is added again.
std::map<cl_device_id, cl_device_id> &parents() {
  static auto &known = *new std::map<cl_device_id, cl_device_id>;
  return known;
}

cl_device_id parent_of(cl_device_id device) {
  const std::lock_guard<std::mutex> lock(mutex());
  const auto found = parents().find(device);
  return found == parents().end() ? nullptr : found->second;
}

}  // namespace

void add_sub_devices(cl_device_id parent, const cl_device_id *made, cl_uint count) {
  const std::lock_guard<std::mutex> lock(mutex());
  for (cl_uint i = 0; i < count; ++i) parents()[made[i]] = parent;
}

cl_device_id device_in(cl_program program, cl_device_id device) {
  cl_device_id parent = parent_of(device);
  if (parent == nullptr) return device;
  const Devices all = devices_of(program);
  if (contains(all, device)) return device;
  while (parent != nullptr && !contains(all, parent)) parent = parent_of(parent);
  cl_build_status status = CL_BUILD_NONE;
  const bool has_it = parent != nullptr &&
                      next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS,
                                                 sizeof(status), &status, nullptr) == CL_SUCCESS;
  return has_it ? parent : device;
}

}  // namespace kiln::layer
