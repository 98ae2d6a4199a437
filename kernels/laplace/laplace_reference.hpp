// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the laplace kernel is compared with.
#ifndef KILN_KERNELS_LAPLACE_REFERENCE_HPP
#define KILN_KERNELS_LAPLACE_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// Sharpens an 8-bit image with three interleaved channels.
///
/// An inner pixel becomes clamp(9 c - (sum of its 8 neighbours), 0, 255), channel by channel.
/// The outermost ring of pixels is copied.
///
/// `source` and `destination` each hold `height` rows of 3 * `width` bytes with no padding, and
/// do not overlap. `width` and `height` are in pixels and at least 1.
void laplace(const std::uint8_t *source, std::uint8_t *destination, std::size_t width,
             std::size_t height);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_LAPLACE_REFERENCE_HPP
