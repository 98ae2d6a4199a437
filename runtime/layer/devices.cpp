// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/devices.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>

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

cl_device_id only_device(cl_program program) {
  cl_uint count = 0;
  cl_device_id device = nullptr;
  const bool one = next.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count,
                                         nullptr) == CL_SUCCESS &&
                   count == 1 &&
                   next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(device), &device,
                                         nullptr) == CL_SUCCESS;
  return one ? device : nullptr;
}

}  // namespace kiln::layer
