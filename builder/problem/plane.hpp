// SPDX-License-Identifier: Apache-2.0
// Data on the host: a picture, a matrix, a row of values, also of half-precision numbers; and how a
// result compares with the reference's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "kiln/packs/argument.hpp"

namespace kiln::builder {

float float_of_half(std::uint16_t half);

// The nearest half, of two equally near ones the even one; infinity from 65520 on.
std::uint16_t half_of_float(float value);

using Type = packs::ElementType;

constexpr std::size_t size_of(Type type) {
  constexpr std::size_t kSizes[] = {1, 2, 4, 4, 4, 2};
  return kSizes[static_cast<std::size_t>(type)];
}

// Rows from top to bottom without padding, channels interleaved.
struct Plane {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 1;
  std::string name;  // of one of several inputs or outputs ("x"); may be empty
  std::vector<std::uint8_t> pixels;
  Type type = Type::uchar_;

  std::size_t row_bytes() const { return std::size_t{width} * channels * size_of(type); }

  // The elements; `T` must be what `type` says.
  template <typename T>
  const T *as() const {
    return reinterpret_cast<const T *>(pixels.data());
  }
  template <typename T>
  T *as() {
    return reinterpret_cast<T *>(pixels.data());
  }
};

// How a result differs from what was expected.
struct Difference {
  std::size_t elements = 0;  // that are not equal
  double worst = 0;          // levels of integers; else |a - b| / max(1, |b|)
  std::size_t first = 0;     // index of the first element that differs by more than allowed
  bool within = true;        // nothing differs by more than allowed
};

// Element by element; the planes must have one type and size. A NaN differs from everything.
Difference difference(const Plane &got, const Plane &expected, double allowed);

nlohmann::json to_json(const std::vector<Plane> &planes);
std::vector<Plane> planes_from(const nlohmann::json &json);

// From the best to the worst that is known; unchecked: there is nothing to check with.
enum class Check : std::uint8_t { unchecked, exact, within, wrong };

const char *check_name(Check check);  // "exact"

// The check of that name, if there is one.
std::optional<Check> check_from_name(std::string_view name);

// How outputs compare with those expected.
struct Comparison {
  Check check = Check::unchecked;
  std::size_t different = 0;    // elements that are not equal, of all planes
  double worst = 0;             // as in Difference
  std::size_t first_wrong = 0;  // where the check is wrong: the first plane that is
};

// Unchecked where nothing is expected; `tolerance` as in difference().
Comparison compare_outputs(const std::vector<Plane> &outputs, const std::vector<Plane> &expected,
                           double tolerance);

}  // namespace kiln::builder
