// SPDX-License-Identifier: Apache-2.0
// The table of functions below the layer, and the runtime's form of that table.
#include "runtime/layer/base/next.hpp"

namespace kiln::layer {

cl_icd_dispatch next;

const runtime::OpenCL *next_opencl() {
  static const runtime::OpenCL *const table = [] {
    auto *made = new runtime::OpenCL;
    bool whole = true;
#define KILN_TAKE(name) made->name = next.name;
#define KILN_NEED(name) \
  KILN_TAKE(name)       \
  whole = whole && next.name != nullptr;
    KILN_OPENCL_REQUIRED(KILN_NEED)
    KILN_OPENCL_OPTIONAL(KILN_TAKE)
#undef KILN_NEED
#undef KILN_TAKE
    return whole ? made : nullptr;
  }();
  return table;
}

}  // namespace kiln::layer
