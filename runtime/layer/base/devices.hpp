// SPDX-License-Identifier: Apache-2.0
// The application's devices, as the runtime knows them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/api/api.hpp"
#include "runtime/layer/base/next.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::layer {

using Devices = std::vector<cl_device_id>;

// Opens the device at its first use, since querying a device takes a hundred calls; then keeps it
// open, as drivers keep devices. Thread-safe.
kiln_status find_device(cl_device_id id, kiln_device **out, kiln_error *error);

// Returns the devices of the program's context, or of the link for a linked program. Empty: the
// driver does not report them.
Devices devices_of(cl_program program);

cl_context context_of(cl_program program);

// Returns the program's only device, or null.
cl_device_id only_device(cl_program program);

// Returns the devices' names, each once. Leaves out a device whose driver does not tell it.
std::set<std::string> device_names(const Devices &devices);

bool contains(const Devices &devices, cl_device_id device);
bool contains_all(const Devices &devices, const Devices &others);

// Returns the first device of each binary key: devices with the same key accept each other's
// binaries.
Devices different(const Devices &devices);

struct Part {
  cl_device_id device;
  runtime::Handle<cl_program> program;
};

// Returns one program per device kind, built for the first device of that kind: a source that tests
// for the device may have different kernels for each kind. The program is `built` itself if all
// devices are of one kind, or if the driver refuses its own binary.
std::vector<Part> parts_of(cl_program built, const Devices &devices);

}  // namespace kiln::layer
