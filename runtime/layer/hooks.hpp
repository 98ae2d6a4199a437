// SPDX-License-Identifier: Apache-2.0
// Functions that stand between an application and its driver.
#pragma once

#include <CL/cl_icd.h>

#include "runtime/layer/base/next.hpp"

namespace kiln::layer {

// Puts the functions for programs and kernels into the table, unless the settings ask for nothing;
// leaves the other entries.
void set_hooks(cl_icd_dispatch *table);

void set_launch_hooks(cl_icd_dispatch *table);

}  // namespace kiln::layer
