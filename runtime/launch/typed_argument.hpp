// SPDX-License-Identifier: Apache-2.0
// Arguments of kernels against what the pack knows of their types.
#pragma once

#include "runtime/launch/enqueue.hpp"

namespace kiln::runtime {

// What an argument takes: a kiln_type, or one of these.
enum : unsigned {
  kTakesBuffer = KILN_TYPE_DOUBLE + 1,
  kTakesImage,
  kTakesSide  // of the problem: int or uint, the manifest does not say which
};

// Code::bad_argument if the pack knows that the argument takes something else.
Status check_argument(const Kernel &kernel, unsigned index, unsigned given, unsigned components);

// Sets a scalar or a vector after checking it. `type` is a kiln_type; the caller may have passed
// any numbers.
Status set_typed(Kernel *kernel, unsigned index, unsigned type, unsigned components,
                 const void *value);

}  // namespace kiln::runtime
