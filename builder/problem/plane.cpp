// SPDX-License-Identifier: Apache-2.0
// Compares planes element by element, by the type of their elements. A half is fraction * 2^unit,
// with a fraction below 2048 and a unit from -24 to 5.
#include "builder/problem/plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace kiln::builder {

namespace {

constexpr std::uint16_t kSign = 0x8000, kInfinity = 0x7c00, kNan = 0x7e00;
constexpr int kLeastUnit = -24;

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

constexpr const char *kCheckNames[] = {"unchecked", "exact", "within", "wrong"};

bool same_shape(const Plane &a, const Plane &b) {
  return a.type == b.type && a.channels == b.channels && a.width == b.width &&
         a.height == b.height && a.pixels.size() == b.pixels.size();
}

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
  // If a fraction is rounded up to 2048, it correctly carries into the exponent.
  const auto fraction = static_cast<int>(std::nearbyint(std::ldexp(size, -unit)));
  return static_cast<std::uint16_t>(sign | (((unit - kLeastUnit) << 10) + fraction));
}

Difference difference(const Plane &got, const Plane &expected, double allowed) {
  const std::size_t bytes = expected.pixels.size();
  if (bytes == 0 || std::memcmp(got.pixels.data(), expected.pixels.data(), bytes) == 0) return {};
  switch (expected.type) {
    case Type::uchar_: return compare<std::uint8_t>(got, expected, allowed);
    case Type::ushort_: return compare<std::uint16_t>(got, expected, allowed);
    case Type::half_: return compare<Half>(got, expected, allowed);
    case Type::uint_: return compare<std::uint32_t>(got, expected, allowed);
    case Type::int_: return compare<std::int32_t>(got, expected, allowed);
    case Type::char_: return compare<std::int8_t>(got, expected, allowed);
    case Type::short_: return compare<std::int16_t>(got, expected, allowed);
    case Type::long_: return compare<std::int64_t>(got, expected, allowed);
    case Type::ulong_: return compare<std::uint64_t>(got, expected, allowed);
    case Type::double_: return compare<double>(got, expected, allowed);
    case Type::float_: break;
  }
  return compare<float>(got, expected, allowed);
}

using nlohmann::json;

json to_json(const std::vector<Plane> &planes) {
  json all = json::array();
  for (const Plane &plane : planes) {
    all.push_back({{"width", plane.width},
                   {"height", plane.height},
                   {"channels", plane.channels},
                   {"name", plane.name},
                   {"type", static_cast<int>(plane.type)},
                   {"pixels", json::binary(plane.pixels)}});
  }
  return all;
}

std::vector<Plane> planes_from(const json &in) {
  std::vector<Plane> planes;
  for (const json &plane : in) {
    planes.push_back({plane["width"], plane["height"], plane["channels"], plane["name"],
                      plane["pixels"].get_binary(), static_cast<Type>(plane["type"].get<int>())});
  }
  return planes;
}

const char *check_name(Check check) { return kCheckNames[static_cast<std::size_t>(check)]; }

std::optional<Check> check_from_name(std::string_view name) {
  const auto *const found = std::find(std::begin(kCheckNames), std::end(kCheckNames), name);
  if (found == std::end(kCheckNames)) return std::nullopt;
  return static_cast<Check>(found - std::begin(kCheckNames));
}

Comparison compare_outputs(const std::vector<Plane> &outputs, const std::vector<Plane> &expected,
                           double tolerance) {
  Comparison result;
  if (expected.empty()) return result;
  result.check = outputs.size() == expected.size() ? Check::exact : Check::wrong;
  for (std::size_t i = 0; i < outputs.size() && i < expected.size(); ++i) {
    const bool comparable = same_shape(outputs[i], expected[i]);
    const Difference d =
        comparable ? difference(outputs[i], expected[i], tolerance) : Difference{1, 0, 0, false};
    if (d.elements == 0) continue;
    if (!d.within && result.check != Check::wrong) result.first_wrong = i;
    result.check = std::max(result.check, d.within ? Check::within : Check::wrong);
    result.different += d.elements;
    result.worst = std::max(result.worst, d.worst);
  }
  return result;
}

}  // namespace kiln::builder
