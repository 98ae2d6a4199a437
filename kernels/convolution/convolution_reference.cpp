// SPDX-License-Identifier: Apache-2.0
#include "kernels/convolution/convolution_reference.hpp"

#include <algorithm>
#include <vector>

namespace kiln::reference {
namespace {

// Pixel `at` + `tap` - 7, or the nearest in [0, extent).
std::size_t tap_at(std::size_t at, std::size_t tap, std::size_t extent) {
  constexpr std::size_t kRadius = kConvolutionTaps / 2;
  const std::size_t moved = at + tap;
  return moved < kRadius ? 0 : std::min(moved - kRadius, extent - 1);
}

}  // namespace

void convolution(const float *source, const float *weights, float *destination, std::size_t width,
                 std::size_t height) {
  std::vector<double> rows(width * height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      double sum = 0;
      for (std::size_t i = 0; i < kConvolutionTaps; ++i)
        sum += double{weights[i]} * double{source[y * width + tap_at(x, i, width)]};
      rows[y * width + x] = sum;
    }
  }
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      double sum = 0;
      for (std::size_t j = 0; j < kConvolutionTaps; ++j)
        sum += double{weights[kConvolutionTaps + j]} * rows[tap_at(y, j, height) * width + x];
      destination[y * width + x] = static_cast<float>(sum);
    }
  }
}

}  // namespace kiln::reference
