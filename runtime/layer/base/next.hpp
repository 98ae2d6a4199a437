// SPDX-License-Identifier: Apache-2.0
// The functions below the layer: the next layer's, or the ICD loader's.
#pragma once

#include "runtime/opencl/library.hpp"

#include <CL/cl_icd.h>

namespace kiln::layer {

// Filled by set_next(). Entries that an older loader lacks are null.
extern cl_icd_dispatch next;

// Takes the first `count` functions of a loader's table, and returns how many of them the layer
// knows. Called when a loader takes the layer, before any other thread can call it: once in most
// processes, and again for a loader that was closed and opened, which may lie elsewhere then.
std::size_t set_next(const cl_icd_dispatch &functions, std::size_t count);

// Returns the same table in the runtime's form. Entries that an older loader lacks are null.
const runtime::OpenCL &next_table();

// Returns that table; null if the loader lacks an entry that the runtime needs.
const runtime::OpenCL *next_opencl();

}  // namespace kiln::layer
