// SPDX-License-Identifier: Apache-2.0
// Compares planes element by element, as the type of their elements asks for.
#include "builder/problem/plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "builder/problem/half.hpp"

namespace kiln::builder {
namespace {

struct Half {
  std::uint16_t bits;
  explicit operator double() const { return float_of_half(bits); }
};

template <typename T>
double distance(T got, T expected) {
  const double a = static_cast<double>(got);
  const double b = static_cast<double>(expected);
  if constexpr (!std::is_integral_v<T>) {
    if (a == b) return 0;
    const double d = std::abs(a - b) / std::max(1.0, std::abs(b));
    return std::isnan(d) ? HUGE_VAL : d;
  }
  return std::abs(a - b);
}

template <typename T>
Difference compare(const Plane &got, const Plane &expected, double allowed) {
  Difference result;
  const std::size_t count = expected.pixels.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    const double d = distance(got.as<T>()[i], expected.as<T>()[i]);
    if (d == 0) continue;
    ++result.elements;
    result.worst = std::max(result.worst, d);
    if (d > allowed && result.within) {
      result.within = false;
      result.first = i;
    }
  }
  return result;
}

}  // namespace

Difference difference(const Plane &got, const Plane &expected, double allowed) {
  const std::size_t bytes = expected.pixels.size();
  if (bytes == 0 || std::memcmp(got.pixels.data(), expected.pixels.data(), bytes) == 0) return {};
  switch (expected.type) {
    case Type::uchar_: return compare<std::uint8_t>(got, expected, allowed);
    case Type::ushort_: return compare<std::uint16_t>(got, expected, allowed);
    case Type::half_: return compare<Half>(got, expected, allowed);
    case Type::uint_: return compare<std::uint32_t>(got, expected, allowed);
    case Type::int_: return compare<std::int32_t>(got, expected, allowed);
    case Type::float_: break;
  }
  return compare<float>(got, expected, allowed);
}

bool same_shape(const Plane &a, const Plane &b) {
  return a.type == b.type && a.channels == b.channels && a.width == b.width &&
         a.height == b.height && a.pixels.size() == b.pixels.size();
}

}  // namespace kiln::builder
