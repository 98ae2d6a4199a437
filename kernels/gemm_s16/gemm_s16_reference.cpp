// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_s16/gemm_s16_reference.hpp"

namespace kiln::reference {

void gemm_s16(const std::int16_t *a, const std::int16_t *b, std::int32_t *c, std::size_t width,
              std::size_t height, std::size_t depth) {
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      std::uint32_t sum = 0;
      for (std::size_t k = 0; k < depth; ++k) {
        sum += static_cast<std::uint32_t>(std::int32_t{a[y * depth + k]} *
                                          std::int32_t{b[x * depth + k]});
      }
      c[y * width + x] = static_cast<std::int32_t>(sum);
    }
  }
}

}  // namespace kiln::reference
