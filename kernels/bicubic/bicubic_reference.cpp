// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/common/problem.hpp"

namespace kiln::reference {
namespace {

constexpr std::size_t kChannels = 4;
constexpr std::size_t kTaps = 4;

// Where one coordinate of the result lies in the source.
struct Position {
  std::ptrdiff_t first;               // the first of the four pixels; may be outside
  std::array<double, kTaps> weights;  // theirs
};

Position position_of(std::size_t coordinate) {
  const double from_middle = (static_cast<double>(coordinate) + 0.5) / 2 - 0.5;
  const double whole = std::floor(from_middle);
  const double a = from_middle - whole;
  const double a2 = a * a;
  const double a3 = a2 * a;
  return {static_cast<std::ptrdiff_t>(whole) - 1,
          {-0.5 * a + a2 - 0.5 * a3, 1 - 2.5 * a2 + 1.5 * a3, 0.5 * a + 2 * a2 - 1.5 * a3,
           -0.5 * a2 + 0.5 * a3}};
}

bool is_inside(std::ptrdiff_t position, std::size_t extent) {
  return position >= 0 && static_cast<std::size_t>(position) < extent;
}

}  // namespace

// Doubles an 8-bit image of four channels in both directions, by 4x4 Catmull-Rom interpolation:
// pixel (X, Y) of the result is the source at ((X + 0.5) / 2, (Y + 0.5) / 2), where a pixel's
// middle is at its coordinates plus 0.5. All channels of pixels outside the source are 0. The sum
// is clamped to 0 to 255 and rounded to the nearest level, halves to the even one.
KILN_REFERENCE_EXPORT std::int32_t bicubic(const kiln_reference_call *call) {
  const std::size_t width = call->width, height = call->height;
  if (!takes(call, {bytes(4, width, height)}, {bytes(4, 2 * width, 2 * height)})) return 1;
  const auto *source = in(call, 0);
  auto *destination = out(call, 0);
  for (std::size_t y = 0; y < 2 * height; ++y) {
    const Position vertical = position_of(y);
    for (std::size_t x = 0; x < 2 * width; ++x) {
      const Position horizontal = position_of(x);
      for (std::size_t channel = 0; channel < kChannels; ++channel) {
        double sum = 0;
        for (std::size_t j = 0; j < kTaps; ++j) {
          const std::ptrdiff_t row = vertical.first + static_cast<std::ptrdiff_t>(j);
          if (!is_inside(row, height)) continue;
          for (std::size_t i = 0; i < kTaps; ++i) {
            const std::ptrdiff_t column = horizontal.first + static_cast<std::ptrdiff_t>(i);
            if (!is_inside(column, width)) continue;
            const std::size_t pixel =
                static_cast<std::size_t>(row) * width + static_cast<std::size_t>(column);
            sum +=
                vertical.weights[j] * horizontal.weights[i] * source[pixel * kChannels + channel];
          }
        }
        destination[(y * 2 * width + x) * kChannels + channel] =
            static_cast<std::uint8_t>(std::nearbyint(std::clamp(sum, 0.0, 255.0)));
      }
    }
  }
  return 0;
}

}  // namespace kiln::reference
