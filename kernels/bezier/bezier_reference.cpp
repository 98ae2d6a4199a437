// SPDX-License-Identifier: Apache-2.0
#include "kernels/bezier/bezier_reference.hpp"

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

void bezier(const float *x, const float *y, const float *z, float *position, float *st,
            std::size_t width, std::size_t height) {
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      const std::size_t i = row * width + column;
      const double s = along(column, width);
      const double t = along(row, height);
      position[4 * i] = patch(x, s, t);
      position[4 * i + 1] = patch(y, s, t);
      position[4 * i + 2] = patch(z, s, t);
      position[4 * i + 3] = 1.0F;
      st[2 * i] = static_cast<float>(s);
      st[2 * i + 1] = static_cast<float>(t);
    }
  }
}

}  // namespace kiln::reference
