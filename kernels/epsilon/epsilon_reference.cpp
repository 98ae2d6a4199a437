// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "kernels/common/problem.hpp"

namespace kiln::reference {
namespace {

constexpr std::ptrdiff_t kReach = 4;  // 9x9: the pixel and four on each side

// sum / count to the nearest, halves up: floor(sum / count + 1 / 2).
unsigned rounded_average(unsigned sum, unsigned count) { return (2 * sum + count) / (2 * count); }

}  // namespace

// Epsilon filter of an 8-bit luma plane: smooths noise, keeps edges. A pixel c becomes the average
// of those pixels p of its 9x9 neighbourhood, itself included, for which |c - p| <= threshold,
// rounded to the nearest level, halves up. Neighbours outside the image take the value of the
// nearest pixel inside. From a threshold of 255 up every neighbour counts.
KILN_REFERENCE_EXPORT std::int32_t epsilon(const kiln_reference_call *call) {
  const std::size_t width = call->width, height = call->height;
  if (!takes(call, {bytes(1, width, height)}, {bytes(1, width, height)})) return 1;
  const auto threshold = static_cast<unsigned>(numbers(call, "threshold", 1)[0]);
  const auto *source = in(call, 0);
  auto *destination = out(call, 0);
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
  return 0;
}

}  // namespace kiln::reference
