// SPDX-License-Identifier: Apache-2.0
// Sub-devices of the application, which a driver may build programs for as their parents: PoCL's
// programs have the parent of a sub-device in its place, and one binary for both. Thread-safe.
#pragma once

#include "runtime/layer/base/devices.hpp"

namespace kiln::layer {

// Remembers sub-devices that the driver made. Only such devices are asked about, since an
// application may name devices that do not exist.
void add_sub_devices(cl_device_id parent, const cl_device_id *made, cl_uint count);

// Returns the parent of a sub-device if the program has the parent in its place: the driver lists
// only the parent, and answers for the sub-device. Returns other devices as they are.
cl_device_id device_in(cl_program program, cl_device_id device);

}  // namespace kiln::layer
