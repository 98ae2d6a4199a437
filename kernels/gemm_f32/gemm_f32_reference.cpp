// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_f32/gemm_f32_reference.hpp"

#include <vector>

namespace kiln::reference {

void gemm_f32(const float *a, const float *b, float *c, std::size_t width, std::size_t height,
              std::size_t depth) {
  std::vector<double> sums(width);
  for (std::size_t y = 0; y < height; ++y) {
    sums.assign(width, 0);
    for (std::size_t k = 0; k < depth; ++k) {
      const double factor = a[y * depth + k];
      for (std::size_t x = 0; x < width; ++x) sums[x] += factor * double{b[k * width + x]};
    }
    for (std::size_t x = 0; x < width; ++x) c[y * width + x] = static_cast<float>(sums[x]);
  }
}

}  // namespace kiln::reference
