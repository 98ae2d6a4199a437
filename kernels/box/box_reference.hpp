// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the box kernel is compared with.
#ifndef KILN_KERNELS_BOX_REFERENCE_HPP
#define KILN_KERNELS_BOX_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// 8x8 box blur of an 8-bit image of four interleaved channels.
///
/// A channel of pixel (x, y) becomes the average of that channel over the 64 pixels from
/// (x - 4, y - 4) to (x + 3, y + 3), rounded to the nearest level, halves up. Pixels outside the
/// image take the value of the nearest one inside.
///
/// `source` and `destination` each hold `height` rows of `width` pixels of four bytes with no
/// padding, and do not overlap. `width` and `height` are in pixels and at least 1.
void box(const std::uint8_t *source, std::uint8_t *destination, std::size_t width,
         std::size_t height);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_BOX_REFERENCE_HPP
