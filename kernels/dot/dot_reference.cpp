// SPDX-License-Identifier: Apache-2.0
#include "kernels/dot/dot_reference.hpp"

namespace kiln::reference {

void dot(const float *a, const float *b, float *out, std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i) {
    double sum = 0.0;
    for (std::size_t c = 0; c < 4; ++c) {
      sum += static_cast<double>(a[4 * i + c]) * static_cast<double>(b[4 * i + c]);
    }
    out[i] = static_cast<float>(sum);
  }
}

}  // namespace kiln::reference
