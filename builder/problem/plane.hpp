// SPDX-License-Identifier: Apache-2.0
// Data on the host: a picture, a matrix or a row of values, including half-precision numbers; and
// the comparison of a result with the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "kiln/packs/argument_words.hpp"

namespace kiln::builder {

float float_of_half(std::uint16_t half);

// Returns the nearest half, the even one of two equally near; infinity from 65520 on.
std::uint16_t half_of_float(float value);

using Type = packs::ElementType;

constexpr std::size_t size_of(Type type) {
  constexpr std::size_t kSizes[] = {1, 2, 4, 4, 4, 2, 1, 2, 8, 8, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

// Rows from top to bottom without padding, channels interleaved.
struct Plane {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 1;
  std::string name;  // which of several inputs or outputs ("x"); may be empty
  std::vector<std::uint8_t> pixels;
  Type type = Type::uchar_;

  std::size_t row_bytes() const { return std::size_t{width} * channels * size_of(type); }

  // The elements; `T` must match `type`.
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
  std::size_t elements = 0;  // number of unequal elements
  double worst = 0;          // levels of integers; else |a - b| / max(1, |b|)
  std::size_t first = 0;     // index of the first element that differs by more than allowed
  bool within = true;        // nothing differs by more than allowed
};

// Compares element by element; the planes must have one type and size. A NaN differs from
// everything.
Difference difference(const Plane &got, const Plane &expected, double allowed);

nlohmann::json to_json(const std::vector<Plane> &planes);
std::vector<Plane> planes_from(const nlohmann::json &json);

// From the best to the worst known result. unchecked: there is no reference.
enum class Check : std::uint8_t { unchecked, exact, within, wrong };

const char *check_name(Check check);  // "exact"

// Returns the check with that name, if there is one.
std::optional<Check> check_from_name(std::string_view name);

// How outputs differ from the expected ones.
struct Comparison {
  Check check = Check::unchecked;
  std::size_t different = 0;    // number of unequal elements, in all planes
  double worst = 0;             // as in Difference
  std::size_t first_wrong = 0;  // if the check is wrong: the first wrong plane
};

// Returns unchecked if nothing is expected; `tolerance` is the `allowed` of difference().
Comparison compare_outputs(const std::vector<Plane> &outputs, const std::vector<Plane> &expected,
                           double tolerance);

}  // namespace kiln::builder
