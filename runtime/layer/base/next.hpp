// SPDX-License-Identifier: Apache-2.0
// The functions below the layer: the next layer's, or the ICD loader's.
#pragma once

#include "runtime/opencl/library.hpp"

#include <CL/cl_icd.h>

namespace kiln::layer {

// Filled once by clInitLayer, before any other thread can call the layer. Entries that an older
// loader lacks are null.
extern cl_icd_dispatch next;

// Returns the same table in the runtime's form. Entries that an older loader lacks are null.
const runtime::OpenCL &next_table();

// Returns that table; null if the loader lacks an entry that the runtime needs.
const runtime::OpenCL *next_opencl();

}  // namespace kiln::layer
