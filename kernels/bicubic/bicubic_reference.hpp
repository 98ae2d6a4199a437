// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the bicubic kernel is compared with.
#ifndef KILN_KERNELS_BICUBIC_REFERENCE_HPP
#define KILN_KERNELS_BICUBIC_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// Doubles an 8-bit image of four interleaved channels in both directions, by 4x4 Catmull-Rom
/// interpolation.
///
/// Pixel (X, Y) of the result is the source at ((X + 0.5) / 2, (Y + 0.5) / 2), where a pixel's
/// middle is at its coordinates plus 0.5. All four channels of pixels outside the source are 0.
/// The sum is clamped to 0 to 255 and rounded to the nearest level, halves to the even one.
///
/// `source` holds `height` rows of `width` pixels of four bytes, `destination` twice as many rows
/// of twice as many, with no padding; they do not overlap. `width` and `height` are in pixels and
/// at least 1.
void bicubic(const std::uint8_t *source, std::uint8_t *destination, std::size_t width,
             std::size_t height);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_BICUBIC_REFERENCE_HPP
