// SPDX-License-Identifier: Apache-2.0
// Answers in the form of OpenCL's clGet...Info functions, also for a stand-in that was built for
// only some of its program's devices.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "runtime/layer/base/next.hpp"
#include "runtime/layer/serve/objects.hpp"

namespace kiln::layer {

// Copies `value`, of `size` bytes, to `out`, which has room for `room` bytes; `out` and `size_out`
// may be null.
inline cl_int answer(const void *value, std::size_t size, std::size_t room, void *out,
                     std::size_t *size_out) {
  if (out != nullptr && room < size) return CL_INVALID_VALUE;
  if (out != nullptr) std::memcpy(out, value, size);
  if (size_out != nullptr) *size_out = size;
  return CL_SUCCESS;
}

// Answers CL_PROGRAM_BINARY_SIZES and CL_PROGRAM_BINARIES with an entry for each device of the
// application's program; or, if the driver does so, as PoCL, for each device of the last build. The
// stand-in may have other devices; those that it lacks get no binary.
cl_int binaries_info(cl_program own, const StandIn &stand_in, cl_program_info what,
                     std::size_t room, void *out, std::size_t *size);

// Returns what the driver tells as CL_PROGRAM_BUILD_OPTIONS after a build with these options: PoCL
// tells others than it was given. Asks, once for all programs with these options, a program without
// text, which PoCL 3.1 builds in 25 ms.
std::string told_options(cl_context context, cl_device_id device, const Options &options);
// Returns the same after a link: rusticl tells none, and PoCL none of blanks alone. Calls no
// driver.
std::string told_link_options(cl_device_id device, const std::string &options);

// Answers clGetProgramBuildInfo for a program of which a build was refused.
cl_int refused_info(cl_program own, const Refusal &refusal, cl_device_id device,
                    cl_program_build_info what, std::size_t room, void *out, std::size_t *size);

// Answers clGetProgramBuildInfo for a device for which the driver did not build the stand-in.
cl_int unbuilt_info(cl_program own, cl_device_id device, cl_program_build_info what,
                    std::size_t room, void *out, std::size_t *size);

}  // namespace kiln::layer
