// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "kernels/common/problem.hpp"

namespace kiln::reference {
namespace {

constexpr std::size_t kTaps = 15;  // along each axis: seven on either side of the middle one

std::ptrdiff_t tap(std::size_t i) { return static_cast<std::ptrdiff_t>(i) - 7; }

}  // namespace

// Separable convolution of a plane of float, summed in double: pixel (x, y) becomes the sum of the
// pixels (x + i - 7, y + j - 7), each times weights[i] * weights[15 + j], with i and j from 0
// to 14. Pixels outside the image take the value of the nearest one inside.
KILN_REFERENCE_EXPORT std::int32_t convolution(const kiln_reference_call *call) {
  const std::size_t width = call->width, height = call->height;
  if (!takes(call, {floats(1, width, height), floats(1, kTaps, 2)}, {floats(1, width, height)}))
    return 1;
  const auto *source = in<float>(call, 0), *weights = in<float>(call, 1);
  auto *destination = out<float>(call, 0);
  std::vector<double> rows(width * height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      double sum = 0;
      for (std::size_t i = 0; i < kTaps; ++i)
        sum += double{weights[i]} * double{source[y * width + clamped(x, tap(i), width)]};
      rows[y * width + x] = sum;
    }
  }
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      double sum = 0;
      for (std::size_t j = 0; j < kTaps; ++j)
        sum += double{weights[kTaps + j]} * rows[clamped(y, tap(j), height) * width + x];
      destination[y * width + x] = static_cast<float>(sum);
    }
  }
  return 0;
}

}  // namespace kiln::reference
