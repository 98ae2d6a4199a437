// SPDX-License-Identifier: Apache-2.0
// The functions that stand between an application and its driver.
#pragma once

#include <CL/cl_icd.h>

#include "runtime/spool/next.hpp"

namespace kiln::layer {

// Puts the functions of programs and kernels into the table, unless the settings ask for nothing;
// the others stay as they are.
void set_hooks(cl_icd_dispatch *table);

void set_launch_hooks(cl_icd_dispatch *table);

}  // namespace kiln::layer
