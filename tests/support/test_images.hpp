// Images that find mistakes: random ones and adversarial ones, the same on every machine.
#pragma once

#include <array>
#include <cstdint>

#include "image.hpp"

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

inline builder::Image make_image(Pattern pattern, std::uint32_t width, std::uint32_t height,
                                 std::uint32_t channels) {
  builder::Image image{width, height, channels, {}, {}};
  image.pixels.reserve(image.row_bytes() * height);
  std::uint32_t random = width * 2654435761u + height * 40503u + 1;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        random = random * 1664525u + 1013904223u;
        image.pixels.push_back(level(pattern, x + c, y, width, height, random));
      }
    }
  }
  return image;
}

}  // namespace kiln::test
