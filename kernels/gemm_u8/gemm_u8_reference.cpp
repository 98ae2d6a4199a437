// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_u8/gemm_u8_reference.hpp"

namespace kiln::reference {

void gemm_u8(const std::uint8_t *a, const std::uint8_t *b, std::uint32_t *c, std::size_t width,
             std::size_t height, std::size_t depth) {
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      std::uint32_t sum = 0;
      for (std::size_t k = 0; k < depth; ++k) {
        sum += std::uint32_t{a[y * depth + k]} * std::uint32_t{b[x * depth + k]};
      }
      c[y * width + x] = sum;
    }
  }
}

}  // namespace kiln::reference
