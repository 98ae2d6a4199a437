// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the bezier kernel is compared with.
#ifndef KILN_KERNELS_BEZIER_REFERENCE_HPP
#define KILN_KERNELS_BEZIER_REFERENCE_HPP

#include <cstddef>

namespace kiln::reference {

/// Points of a bicubic patch over a grid, computed in double.
///
/// For column i and row j, s = i / (width - 1) and t = j / (height - 1); 0 where the grid has one
/// column or one row. `position` gets (X, Y, Z, 1) with X = S x T^T, Y = S y T^T, Z = S z T^T,
/// S = (s^3, s^2, s, 1), T = (t^3, t^2, t, 1); `st` gets (s, t).
///
/// `x`, `y` and `z` are 4x4 matrices, row-major. `position` holds `height` rows of `width` times
/// four floats, `st` of `width` times two, with no padding.
void bezier(const float *x, const float *y, const float *z, float *position, float *st,
            std::size_t width, std::size_t height);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_BEZIER_REFERENCE_HPP
