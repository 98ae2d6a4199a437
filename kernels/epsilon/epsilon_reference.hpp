// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the epsilon kernel is compared with.
#ifndef KILN_KERNELS_EPSILON_REFERENCE_HPP
#define KILN_KERNELS_EPSILON_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// Epsilon filter of an 8-bit luma plane: smooths noise, keeps edges.
///
/// A pixel c becomes the average of those pixels p of its 9x9 neighbourhood, itself included,
/// for which |c - p| <= `threshold`. Neighbours outside the image take the value of the nearest
/// pixel inside. The average is rounded to the nearest level, halves up.
///
/// `source` and `destination` each hold `height` rows of `width` bytes with no padding, and do
/// not overlap. `width` and `height` are in pixels and at least 1. `threshold` is in levels;
/// from 255 up every neighbour counts.
void epsilon(const std::uint8_t *source, std::uint8_t *destination, std::size_t width,
             std::size_t height, unsigned threshold);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_EPSILON_REFERENCE_HPP
