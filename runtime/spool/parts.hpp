// SPDX-License-Identifier: Apache-2.0
// A program that was built for several devices, as each kind of them has it: where a source asks
// what the device is, they have different kernels.
#pragma once

#include "runtime/opencl/handle.hpp"
#include "runtime/spool/devices.hpp"

namespace kiln::layer {

struct Part {
  cl_device_id device;
  runtime::Handle<cl_program> program;
};

// For each kind of the devices, which `built` was built for, a program that is built for the first
// of it. That is `built` itself where all are of one kind, or where a driver does not take its own
// binary.
std::vector<Part> parts_of(cl_program built, const Devices &devices);

}  // namespace kiln::layer
