// SPDX-License-Identifier: Apache-2.0
// Takes numbers apart by powers of two: a half is fraction * 2^unit with a fraction below 2048 and
// a unit from -24 to 5.
#include "builder/problem/half.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln::builder {
namespace {

constexpr std::uint16_t kSign = 0x8000, kInfinity = 0x7c00, kNan = 0x7e00;
constexpr int kLeastUnit = -24;

}  // namespace

float float_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  float value = std::ldexp(static_cast<float>(fraction), kLeastUnit);
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent > 0) {
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 1 + kLeastUnit);
  }
  return (half & kSign) != 0 ? -value : value;
}

std::uint16_t half_of_float(float value) {
  const std::uint16_t sign = std::signbit(value) ? kSign : 0;
  const float size = std::fabs(value);
  if (std::isnan(value)) return sign | kNan;
  if (size >= 65520.0f) return sign | kInfinity;
  int exponent = kLeastUnit;
  if (size > 0) std::frexp(size, &exponent);  // size is below 2^exponent
  const int unit = std::max(exponent - 11, kLeastUnit);
  // A fraction that is rounded up to 2048 carries into the exponent, which is as it should be.
  const auto fraction = static_cast<int>(std::nearbyint(std::ldexp(size, -unit)));
  return static_cast<std::uint16_t>(sign | (((unit - kLeastUnit) << 10) + fraction));
}

}  // namespace kiln::builder
