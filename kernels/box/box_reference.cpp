// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/problem.hpp"

namespace kiln::reference {
namespace {

constexpr std::size_t kChannels = 4;
constexpr std::ptrdiff_t kFirst = -4;  // the window's first and last pixel, from the middle one
constexpr std::ptrdiff_t kLast = 3;

}  // namespace

// 8x8 box blur of an 8-bit image of four channels: a channel of pixel (x, y) becomes its average
// over the 64 pixels from (x - 4, y - 4) to (x + 3, y + 3), rounded to the nearest level, halves
// up. Pixels outside the image take the value of the nearest one inside.
KILN_REFERENCE_EXPORT std::int32_t box(const kiln_reference_call *call) {
  const std::size_t width = call->width, height = call->height;
  if (!takes(call, {bytes(4, width, height)}, {bytes(4, width, height)})) return 1;
  const auto *source = in(call, 0);
  auto *destination = out(call, 0);
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
  return 0;
}

}  // namespace kiln::reference
