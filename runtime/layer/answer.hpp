// SPDX-License-Identifier: Apache-2.0
// Answers as OpenCL's functions clGet...Info give them; also of a twin that is for some of its
// program's devices.
#pragma once

#include <cstddef>
#include <cstring>

#include "runtime/layer/objects.hpp"
#include "runtime/spool/next.hpp"

namespace kiln::layer {

// `value`, of `size` bytes, into `out`, which has room for `room` bytes; `out` and `size_out` may
// be null.
inline cl_int answer(const void *value, std::size_t size, std::size_t room, void *out,
                     std::size_t *size_out) {
  if (out != nullptr && room < size) return CL_INVALID_VALUE;
  if (out != nullptr) std::memcpy(out, value, size);
  if (size_out != nullptr) *size_out = size;
  return CL_SUCCESS;
}

// CL_PROGRAM_BINARY_SIZES and CL_PROGRAM_BINARIES: a place for each of the application's devices,
// where the twin may have fewer; those that it was not built for have none.
cl_int binaries_info(cl_program own, const Twin &twin, cl_program_info what, std::size_t room,
                     void *out, std::size_t *size);

// clGetProgramBuildInfo for a device that the driver does not know the twin to be for.
cl_int unbuilt_info(cl_program own, cl_device_id device, cl_program_build_info what,
                    std::size_t room, void *out, std::size_t *size);

}  // namespace kiln::layer
