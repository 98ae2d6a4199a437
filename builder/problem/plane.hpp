// SPDX-License-Identifier: Apache-2.0
// Data on the host: a picture, a matrix, a row of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/packs/argument.hpp"

namespace kiln::builder {

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

bool same_shape(const Plane &a, const Plane &b);

}  // namespace kiln::builder
