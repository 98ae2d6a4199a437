// SPDX-License-Identifier: Apache-2.0
#include "kernels/epsilon/epsilon_reference.hpp"

#include <algorithm>
#include <cstdlib>

namespace kiln::reference {
namespace {

constexpr std::ptrdiff_t kReach = 4;  // 9x9: the pixel and four on each side

// The coordinate `position` + `offset`, moved to the nearest one in [0, extent).
std::size_t clamped(std::size_t position, std::ptrdiff_t offset, std::size_t extent) {
  const auto last = static_cast<std::ptrdiff_t>(extent) - 1;
  const auto moved = static_cast<std::ptrdiff_t>(position) + offset;
  return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(moved, 0, last));
}

// sum / count to the nearest, halves up: floor(sum / count + 1 / 2).
unsigned rounded_average(unsigned sum, unsigned count) { return (2 * sum + count) / (2 * count); }

}  // namespace

void epsilon(const std::uint8_t *source, std::uint8_t *destination, std::size_t width,
             std::size_t height, unsigned threshold) {
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const int centre = source[y * width + x];
      unsigned sum = 0;
      unsigned count = 0;
      for (std::ptrdiff_t dy = -kReach; dy <= kReach; ++dy) {
        const std::uint8_t *row = source + clamped(y, dy, height) * width;
        for (std::ptrdiff_t dx = -kReach; dx <= kReach; ++dx) {
          const int neighbour = row[clamped(x, dx, width)];
          const auto distance = static_cast<unsigned>(std::abs(centre - neighbour));
          if (distance <= threshold) {
            sum += static_cast<unsigned>(neighbour);
            ++count;
          }
        }
      }
      destination[y * width + x] = static_cast<std::uint8_t>(rounded_average(sum, count));
    }
  }
}

}  // namespace kiln::reference
