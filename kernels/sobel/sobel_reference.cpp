// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "kernels/common/problem.hpp"

namespace kiln::reference {
namespace {

constexpr int kGx[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
constexpr int kGy[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};

std::uint8_t saturated_magnitude(int gradient) {
  return static_cast<std::uint8_t>(std::min(std::abs(gradient), 255));
}

}  // namespace

// Absolute Sobel gradients of an 8-bit image of one channel: for an inner pixel min(|Gx|, 255) and
// min(|Gy|, 255) over its 3x3 neighbourhood, rows downwards. On the outermost ring both are zero.
KILN_REFERENCE_EXPORT std::int32_t sobel(const kiln_reference_call *call) {
  const std::size_t width = call->width, height = call->height;
  if (!takes(call, {bytes(1, width, height)}, {bytes(1, width, height), bytes(1, width, height)}))
    return 1;
  const auto *source = in(call, 0);
  auto *gradient_x = out(call, 0), *gradient_y = out(call, 1);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      int gx = 0;
      int gy = 0;
      const bool on_ring = x == 0 || y == 0 || x == width - 1 || y == height - 1;
      if (!on_ring) {
        for (std::size_t j = 0; j < 3; ++j) {
          for (std::size_t i = 0; i < 3; ++i) {
            const int neighbour = source[(y - 1 + j) * width + (x - 1 + i)];
            gx += kGx[j][i] * neighbour;
            gy += kGy[j][i] * neighbour;
          }
        }
      }
      gradient_x[y * width + x] = saturated_magnitude(gx);
      gradient_y[y * width + x] = saturated_magnitude(gy);
    }
  }
  return 0;
}

}  // namespace kiln::reference
