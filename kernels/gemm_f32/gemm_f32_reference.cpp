// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/problem.hpp"

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

// C = A B, summed in double and rounded once. A has `height` rows, B `depth` rows.
void multiply(const float *a, const float *b, float *c, std::size_t width, std::size_t height,
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

}  // namespace

KILN_REFERENCE_EXPORT std::int32_t gemm_f32(const kiln_reference_call *call) {
  const std::size_t w = call->width, h = call->height, d = call->depth;
  if (!takes(call, {floats(1, d, h), floats(1, w, d)}, {floats(1, w, h)})) return 1;
  multiply(in<float>(call, 0), in<float>(call, 1), out<float>(call, 0), w, h, d);
  return 0;
}

// The same with A and B of halves, each the 16 bits of IEEE 754.
KILN_REFERENCE_EXPORT std::int32_t gemm_f16(const kiln_reference_call *call) {
  const std::size_t w = call->width, h = call->height, d = call->depth;
  if (!takes(call, {halves(d, h), halves(w, d)}, {floats(1, w, h)})) return 1;
  const auto *a = in<std::uint16_t>(call, 0), *b = in<std::uint16_t>(call, 1);
  multiply(floats_of(a, h * d).data(), floats_of(b, d * w).data(), out<float>(call, 0), w, h, d);
  return 0;
}

}  // namespace kiln::reference
