// SPDX-License-Identifier: Apache-2.0
#include "kernels/sobel/sobel_reference.hpp"

#include <algorithm>
#include <cstdlib>

namespace kiln::reference {
namespace {

constexpr int kGx[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
constexpr int kGy[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};

std::uint8_t saturated_magnitude(int gradient) {
  return static_cast<std::uint8_t>(std::min(std::abs(gradient), 255));
}

}  // namespace

void sobel(const std::uint8_t *source, std::uint8_t *gradient_x, std::uint8_t *gradient_y,
           std::size_t width, std::size_t height) {
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
}

}  // namespace kiln::reference
