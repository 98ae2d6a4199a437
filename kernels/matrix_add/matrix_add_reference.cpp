// SPDX-License-Identifier: Apache-2.0
#include "kernels/matrix_add/matrix_add_reference.hpp"

namespace kiln::reference {

void matrix_add(const float *a, const float *b, float *out, std::size_t width, std::size_t height) {
  for (std::size_t i = 0; i < width * height; ++i) out[i] = a[i] + b[i];
}

}  // namespace kiln::reference
