// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/problem.hpp"

namespace kiln::reference {

// Sharpens an 8-bit image of three channels: an inner pixel becomes clamp(9 c - (sum of its 8
// neighbours), 0, 255), channel by channel. The outermost ring of pixels is copied.
KILN_REFERENCE_EXPORT std::int32_t laplace(const kiln_reference_call *call) {
  const std::size_t width = call->width, height = call->height;
  if (!takes(call, {bytes(3, width, height)}, {bytes(3, width, height)})) return 1;
  const auto *source = in(call, 0);
  auto *destination = out(call, 0);
  const auto place = [width](std::size_t x, std::size_t y, std::size_t channel) {
    return (y * width + x) * 3 + channel;
  };
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const bool on_ring = x == 0 || y == 0 || x == width - 1 || y == height - 1;
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const int centre = source[place(x, y, channel)];
        if (on_ring) {
          destination[place(x, y, channel)] = static_cast<std::uint8_t>(centre);
          continue;
        }
        int neighbours = 0;
        for (std::size_t v = y - 1; v <= y + 1; ++v) {
          for (std::size_t u = x - 1; u <= x + 1; ++u) {
            if (u != x || v != y) {
              neighbours += source[place(u, v, channel)];
            }
          }
        }
        const int sharpened = std::clamp(9 * centre - neighbours, 0, 255);
        destination[place(x, y, channel)] = static_cast<std::uint8_t>(sharpened);
      }
    }
  }
  return 0;
}

}  // namespace kiln::reference
