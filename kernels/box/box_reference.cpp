// SPDX-License-Identifier: Apache-2.0
#include "kernels/box/box_reference.hpp"

#include <algorithm>

namespace kiln::reference {
namespace {

constexpr std::size_t kChannels = 4;
constexpr std::ptrdiff_t kFirst = -4;  // the window's first and last pixel, from the middle one
constexpr std::ptrdiff_t kLast = 3;

// The coordinate `position` + `offset`, moved to the nearest one in [0, extent).
std::size_t clamped(std::size_t position, std::ptrdiff_t offset, std::size_t extent) {
  const auto last = static_cast<std::ptrdiff_t>(extent) - 1;
  const auto moved = static_cast<std::ptrdiff_t>(position) + offset;
  return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(moved, 0, last));
}

}  // namespace

void box(const std::uint8_t *source, std::uint8_t *destination, std::size_t width,
         std::size_t height) {
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t channel = 0; channel < kChannels; ++channel) {
        unsigned sum = 0;
        for (std::ptrdiff_t dy = kFirst; dy <= kLast; ++dy) {
          const std::size_t row = clamped(y, dy, height) * width;
          for (std::ptrdiff_t dx = kFirst; dx <= kLast; ++dx)
            sum += source[(row + clamped(x, dx, width)) * kChannels + channel];
        }
        destination[(y * width + x) * kChannels + channel] =
            static_cast<std::uint8_t>((sum + 32) / 64);
      }
    }
  }
}

}  // namespace kiln::reference
