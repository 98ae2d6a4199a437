// SPDX-License-Identifier: Apache-2.0
// The entry points that kernels are launched by: watched while an application is recorded or its
// programs are kept, and given the sizes that a pack has measured.
#pragma once

#include "runtime/spool/next.hpp"

namespace kiln::layer {

void set_launch_hooks(cl_icd_dispatch *table);

}  // namespace kiln::layer
