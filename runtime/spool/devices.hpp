// SPDX-License-Identifier: Apache-2.0
// The application's devices, as the runtime knows them.
#pragma once

#include <vector>

#include "runtime/api/api.hpp"
#include "runtime/opencl/library.hpp"
#include "runtime/spool/next.hpp"

namespace kiln::layer {

using Devices = std::vector<cl_device_id>;

// Opened when it is first asked for, since what a device says of itself takes a hundred calls; then
// kept, as drivers keep devices. Takes any thread.
kiln_status find_device(cl_device_id id, kiln_device **out, kiln_error *error);

// Those of the program: of its context, or, of a linked one, of the link. Empty: the driver does
// not say.
Devices devices_of(cl_program program);

cl_context context_of(cl_program program);

// The only one, or null.
cl_device_id only_device(cl_program program);

bool contains(const Devices &devices, cl_device_id device);
bool contains_all(const Devices &devices, const Devices &others);

// Of those with one binary key, which take each other's binaries, the first alone.
Devices different(const Devices &devices);

struct Part {
  cl_device_id device;
  runtime::Handle<cl_program> program;
};

// Returns one program per device kind, built for the first device of that kind: where a source asks
// what the device is, kinds have different kernels. That is `built` itself if all devices are of
// one kind, or if the driver does not take its own binary.
std::vector<Part> parts_of(cl_program built, const Devices &devices);

}  // namespace kiln::layer
