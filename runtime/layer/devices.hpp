// SPDX-License-Identifier: Apache-2.0
// The application's devices, as the runtime knows them.
#pragma once

#include "runtime/api/api.hpp"
#include "runtime/layer/next.hpp"

namespace kiln::layer {

// Opened when it is first asked for, since what a device says of itself takes a hundred calls; then
// kept, as drivers keep devices. Takes any thread.
kiln_status find_device(cl_device_id id, kiln_device **out, kiln_error *error);

// The only device of the program's context, or null.
cl_device_id only_device(cl_program program);

}  // namespace kiln::layer
