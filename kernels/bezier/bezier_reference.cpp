// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/problem.hpp"

namespace kiln::reference {
namespace {

double along(std::size_t i, std::size_t side) {
  return side > 1 ? static_cast<double>(i) / static_cast<double>(side - 1) : 0.0;
}

float patch(const float *m, double s, double t) {
  const double s_powers[4] = {s * s * s, s * s, s, 1.0};
  const double t_powers[4] = {t * t * t, t * t, t, 1.0};
  double sum = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      sum += s_powers[i] * static_cast<double>(m[4 * i + j]) * t_powers[j];
    }
  }
  return static_cast<float>(sum);
}

}  // namespace

// Points of a bicubic patch over a grid, computed in double: for column i and row j,
// s = i / (width - 1) and t = j / (height - 1), 0 where the grid has one column or row. The first
// output gets (X, Y, Z, 1) with X = S x T^T, Y = S y T^T, Z = S z T^T, S = (s^3, s^2, s, 1),
// T = (t^3, t^2, t, 1) and the parameters x, y and z as 4x4 matrices, row-major; the second (s, t).
KILN_REFERENCE_EXPORT std::int32_t bezier(const kiln_reference_call *call) {
  const std::size_t width = call->width, height = call->height;
  if (!takes(call, {}, {floats(4, width, height), floats(2, width, height)})) return 1;
  const std::vector<float> x = numbers(call, "x", 16), y = numbers(call, "y", 16),
                           z = numbers(call, "z", 16);
  auto *position = out<float>(call, 0), *st = out<float>(call, 1);
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      const std::size_t i = row * width + column;
      const double s = along(column, width);
      const double t = along(row, height);
      position[4 * i] = patch(x.data(), s, t);
      position[4 * i + 1] = patch(y.data(), s, t);
      position[4 * i + 2] = patch(z.data(), s, t);
      position[4 * i + 3] = 1.0F;
      st[2 * i] = static_cast<float>(s);
      st[2 * i + 1] = static_cast<float>(t);
    }
  }
  return 0;
}

}  // namespace kiln::reference
