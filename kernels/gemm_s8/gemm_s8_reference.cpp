// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_s8/gemm_s8_reference.hpp"

#include <algorithm>

namespace kiln::reference {
namespace {

template <typename B>
std::int32_t element(const std::int8_t *a, const B *b, std::size_t depth, std::int32_t bias) {
  std::int64_t sum = bias;
  for (std::size_t first = 0; first < depth; first += 4) {
    for (std::size_t k = first; k < std::min(first + 4, depth); ++k) {
      sum += std::int64_t{a[k]} * std::int64_t{b[k]};
    }
    sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  }
  return static_cast<std::int32_t>(sum);
}

template <typename B>
void product(const std::int8_t *a, const B *b, std::int32_t *c, std::size_t width,
             std::size_t height, std::size_t depth, std::int32_t bias) {
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      c[y * width + x] = element(a + y * depth, b + x * depth, depth, bias);
    }
  }
}

}  // namespace

void gemm_s8(const std::int8_t *a, const std::int8_t *b, std::int32_t *c, std::size_t width,
             std::size_t height, std::size_t depth, std::int32_t bias) {
  product(a, b, c, width, height, depth, bias);
}

void gemm_su8(const std::int8_t *a, const std::uint8_t *b, std::int32_t *c, std::size_t width,
              std::size_t height, std::size_t depth, std::int32_t bias) {
  product(a, b, c, width, height, depth, bias);
}

}  // namespace kiln::reference
