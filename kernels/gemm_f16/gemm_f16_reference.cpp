// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_f16/gemm_f16_reference.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/gemm_f32/gemm_f32_reference.hpp"

namespace kiln::reference {
namespace {

float float_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent < 31) return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return fraction == 0 ? sign * std::numeric_limits<float>::infinity()
                       : std::numeric_limits<float>::quiet_NaN();
}

std::vector<float> floats_of(const std::uint16_t *halves, std::size_t count) {
  std::vector<float> floats(count);
  for (std::size_t i = 0; i < count; ++i) floats[i] = float_of(halves[i]);
  return floats;
}

}  // namespace

void gemm_f16(const std::uint16_t *a, const std::uint16_t *b, float *c, std::size_t width,
              std::size_t height, std::size_t depth) {
  gemm_f32(floats_of(a, height * depth).data(), floats_of(b, depth * width).data(), c, width,
           height, depth);
}

}  // namespace kiln::reference
