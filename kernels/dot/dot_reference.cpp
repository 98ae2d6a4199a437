// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/problem.hpp"

namespace kiln::reference {

// Dot products of vectors of four floats, summed in double.
KILN_REFERENCE_EXPORT std::int32_t dot(const kiln_reference_call *call) {
  const std::size_t width = call->width, height = call->height;
  if (!takes(call, {floats(4, width, height), floats(4, width, height)},
             {floats(1, width, height)}))
    return 1;
  const auto *a = in<float>(call, 0), *b = in<float>(call, 1);
  for (std::size_t i = 0; i < width * height; ++i) {
    double sum = 0.0;
    for (std::size_t c = 0; c < 4; ++c) {
      sum += static_cast<double>(a[4 * i + c]) * static_cast<double>(b[4 * i + c]);
    }
    out<float>(call, 0)[i] = static_cast<float>(sum);
  }
  return 0;
}

}  // namespace kiln::reference
