// SPDX-License-Identifier: Apache-2.0
// What a twin that is for some of its program's devices says of all of them.
#pragma once

#include "runtime/layer/objects.hpp"

namespace kiln::layer {

// CL_PROGRAM_BINARY_SIZES and CL_PROGRAM_BINARIES: a place for each of the application's devices,
// where the twin may have fewer; those that it was not built for have none.
cl_int binaries_info(cl_program own, const Twin &twin, cl_program_info what, std::size_t room,
                     void *out, std::size_t *size);

// clGetProgramBuildInfo for a device that the driver does not know the twin to be for.
cl_int unbuilt_info(cl_program own, cl_device_id device, cl_program_build_info what,
                    std::size_t room, void *out, std::size_t *size);

}  // namespace kiln::layer
