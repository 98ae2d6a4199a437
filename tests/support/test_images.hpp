// SPDX-License-Identifier: Apache-2.0
// Planes that find mistakes: random ones and adversarial ones, the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "builder/problem/plane.hpp"
#include "builder/problem/program_shape.hpp"

namespace kiln::test {

enum class Pattern : std::uint8_t { random, white, checkerboard, single_pixel, steps };

inline constexpr std::array kPatterns = {Pattern::random, Pattern::white, Pattern::checkerboard,
                                         Pattern::single_pixel, Pattern::steps};

inline const char *pattern_name(Pattern pattern) {
  static const char *const names[] = {"random", "white", "checkerboard", "single pixel", "steps"};
  return names[static_cast<std::size_t>(pattern)];
}

// The level at (x, y): of the patterns that saturate, neighbours are as far apart as they can
// be; steps are small, near the thresholds of filters that keep edges.
inline std::uint8_t level(Pattern pattern, std::uint32_t x, std::uint32_t y, std::uint32_t width,
                          std::uint32_t height, std::uint32_t random) {
  switch (pattern) {
    case Pattern::random: return static_cast<std::uint8_t>(random >> 24);
    case Pattern::white: return 255;
    case Pattern::checkerboard: return (x + y) % 2 == 0 ? 255 : 0;
    case Pattern::single_pixel: return x == width / 2 && y == height / 2 ? 255 : 0;
    case Pattern::steps: return static_cast<std::uint8_t>(x * 19 + y * 21);
  }
  return 0;
}

// Puts a level into element `i`: of wider integers into each byte, but with random ones all bits
// are random; of floats and halves as a number from -1 to 1.
inline void put_level(builder::Plane *plane, std::size_t i, Pattern pattern, std::uint8_t value,
                      std::uint32_t random) {
  const std::size_t size = builder::size_of(plane->type);
  std::uint8_t *element = plane->pixels.data() + i * size;
  const float number = (static_cast<float>(value) - 127.5f) / 127.5f;
  if (plane->type == builder::Type::float_) {
    std::memcpy(element, &number, sizeof(number));
  } else if (plane->type == builder::Type::half_) {
    const std::uint16_t half = builder::half_of_float(number);
    std::memcpy(element, &half, sizeof(half));
  } else if (pattern == Pattern::random && size > 1) {
    std::memcpy(element, &random, size);
  } else {
    std::memset(element, value, size);
  }
}

inline builder::Plane make_plane(Pattern pattern, const builder::PlaneShape &shape,
                                 const builder::ProblemSize &size, std::uint32_t seed) {
  builder::Plane plane = builder::blank_plane(shape, size);
  std::uint32_t random = plane.width * 2654435761u + plane.height * 40503u + seed;
  std::size_t i = 0;
  for (std::uint32_t y = 0; y < plane.height; ++y) {
    for (std::uint32_t x = 0; x < plane.width; ++x) {
      for (std::uint32_t c = 0; c < plane.channels; ++c) {
        random = random * 1664525u + 1013904223u;
        put_level(&plane, i++, pattern, level(pattern, x + c, y, plane.width, plane.height, random),
                  random);
      }
    }
  }
  return plane;
}

inline std::vector<builder::Plane> make_planes(Pattern pattern,
                                               const std::vector<builder::PlaneShape> &shapes,
                                               const builder::ProblemSize &size) {
  std::vector<builder::Plane> planes;
  for (const builder::PlaneShape &shape : shapes) {
    planes.push_back(
        make_plane(pattern, shape, size, static_cast<std::uint32_t>(planes.size() + 1)));
  }
  return planes;
}

}  // namespace kiln::test
