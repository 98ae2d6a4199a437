// SPDX-License-Identifier: Apache-2.0
// What lies below the layer: the next layer, or the ICD loader.
#pragma once

#include "runtime/opencl/library.hpp"

#include <CL/cl_icd.h>

namespace kiln::layer {

// Filled once by clInitLayer, before any other thread can call the layer. Entries that a loader of
// an older version does not have are null.
extern cl_icd_dispatch next;

// The same as the runtime wants it; null if the loader lacks an entry that the runtime needs.
const runtime::OpenCL *next_opencl();

}  // namespace kiln::layer
