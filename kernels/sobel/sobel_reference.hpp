// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the sobel kernel is compared with.
#ifndef KILN_KERNELS_SOBEL_REFERENCE_HPP
#define KILN_KERNELS_SOBEL_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// Absolute Sobel gradients of an 8-bit image with one channel.
///
/// For an inner pixel, `gradient_x` is min(|Gx|, 255) and `gradient_y` is min(|Gy|, 255), with
///
///     Gx = -1 0 1     Gy = -1 -2 -1
///          -2 0 2           0  0  0
///          -1 0 1           1  2  1
///
/// over its 3x3 neighbourhood, rows downwards. On the outermost ring of pixels both are zero.
///
/// `source`, `gradient_x` and `gradient_y` each hold `height` rows of `width` bytes with no
/// padding, and do not overlap. `width` and `height` are in pixels and at least 1.
void sobel(const std::uint8_t *source, std::uint8_t *gradient_x, std::uint8_t *gradient_y,
           std::size_t width, std::size_t height);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_SOBEL_REFERENCE_HPP
