// SPDX-License-Identifier: Apache-2.0
// The table of functions below the layer, and the runtime's form of that table.
#include "runtime/layer/base/next.hpp"

#include <algorithm>
#include <cstring>

namespace kiln::layer {
namespace {

// Never destroyed, since an application's statics may build programs.
runtime::OpenCL &own_table() {
  static runtime::OpenCL &table = *new runtime::OpenCL;
  return table;
}

}  // namespace

cl_icd_dispatch next;

std::size_t set_next(const cl_icd_dispatch &functions, std::size_t count) {
  // The table holds function pointers, and later versions only add to its end.
  const std::size_t entries = std::min(sizeof(cl_icd_dispatch) / sizeof(void *), count);
  next = {};
  std::memcpy(static_cast<void *>(&next), &functions, entries * sizeof(void *));
  runtime::OpenCL &table = own_table();
#define KILN_TAKE(name) table.name = next.name;
  KILN_OPENCL_REQUIRED(KILN_TAKE)
  KILN_OPENCL_OPTIONAL(KILN_TAKE)
#undef KILN_TAKE
  return entries;
}

const runtime::OpenCL &next_table() { return own_table(); }

const runtime::OpenCL *next_opencl() {
#define KILN_HAVE(name) &&next.name != nullptr
  const bool is_whole = true KILN_OPENCL_REQUIRED(KILN_HAVE);
#undef KILN_HAVE
  return is_whole ? &next_table() : nullptr;
}

}  // namespace kiln::layer
