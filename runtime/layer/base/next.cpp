// SPDX-License-Identifier: Apache-2.0
// The table of functions below the layer, and the runtime's form of that table.
#include "runtime/layer/base/next.hpp"

namespace kiln::layer {

cl_icd_dispatch next;

const runtime::OpenCL &next_table() {
  static const runtime::OpenCL &table = *[] {
    auto *made = new runtime::OpenCL;
#define KILN_TAKE(name) made->name = next.name;
    KILN_OPENCL_REQUIRED(KILN_TAKE)
    KILN_OPENCL_OPTIONAL(KILN_TAKE)
#undef KILN_TAKE
    return made;
  }();
  return table;
}

const runtime::OpenCL *next_opencl() {
#define KILN_HAVE(name) &&next.name != nullptr
  static const bool is_whole = true KILN_OPENCL_REQUIRED(KILN_HAVE);
#undef KILN_HAVE
  return is_whole ? &next_table() : nullptr;
}

}  // namespace kiln::layer
