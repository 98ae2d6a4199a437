// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the matrix_add kernel is compared with.
#ifndef KILN_KERNELS_MATRIX_ADD_REFERENCE_HPP
#define KILN_KERNELS_MATRIX_ADD_REFERENCE_HPP

#include <cstddef>

namespace kiln::reference {

/// out = a + b, element by element; each holds `height` rows of `width` floats with no padding.
void matrix_add(const float *a, const float *b, float *out, std::size_t width, std::size_t height);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_MATRIX_ADD_REFERENCE_HPP
