// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/problem.hpp"

namespace kiln::reference {

KILN_REFERENCE_EXPORT std::int32_t matrix_add(const kiln_reference_call *call) {
  const std::size_t width = call->width, height = call->height;
  if (!takes(call, {floats(1, width, height), floats(1, width, height)},
             {floats(1, width, height)}))
    return 1;
  const auto *a = in<float>(call, 0), *b = in<float>(call, 1);
  for (std::size_t i = 0; i < width * height; ++i) out<float>(call, 0)[i] = a[i] + b[i];
  return 0;
}

}  // namespace kiln::reference
