// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the convolution kernel is compared with.
#ifndef KILN_KERNELS_CONVOLUTION_REFERENCE_HPP
#define KILN_KERNELS_CONVOLUTION_REFERENCE_HPP

#include <cstddef>

namespace kiln::reference {

/// The taps along each axis: seven on either side of the middle one.
inline constexpr std::size_t kConvolutionTaps = 15;

/// Separable convolution of a plane of float, summed in double.
///
/// Pixel (x, y) becomes the sum of its neighbourhood's pixels (x + i - 7, y + j - 7), each times
/// weights[i] * weights[15 + j], with i and j from 0 to 14. Pixels outside the image take the value
/// of the nearest one inside.
///
/// `source` and `destination` each hold `height` rows of `width` floats with no padding, and do not
/// overlap; `weights` holds two times 15. `width` and `height` are at least 1.
void convolution(const float *source, const float *weights, float *destination, std::size_t width,
                 std::size_t height);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_CONVOLUTION_REFERENCE_HPP
