// SPDX-License-Identifier: Apache-2.0
// Binaries that an application keeps itself. Where there is an overlay they are given to the driver
// behind its markers: one that two processes died of is refused, as a stale one is, and the
// application compiles what it has.
#pragma once

#include "runtime/layer/builds.hpp"

namespace kiln::layer {

struct BinaryArguments {
  cl_context context;
  cl_uint count;
  const cl_device_id *devices;
  const size_t *lengths;
  const unsigned char **binaries;
};

// clCreateProgramWithBinary; `status` may be null, `code` is not.
cl_program create_with_binary(const BinaryArguments &arguments, cl_int *status, cl_int *code);

// clBuildProgram of what create_with_binary() made.
cl_int build_foreign(const ProgramPointer &program, const BuildArguments &arguments);

}  // namespace kiln::layer
