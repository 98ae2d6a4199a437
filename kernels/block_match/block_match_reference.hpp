// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the block_match kernels is compared with.
#ifndef KILN_KERNELS_BLOCK_MATCH_REFERENCE_HPP
#define KILN_KERNELS_BLOCK_MATCH_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// Motion estimation: where in `reference` each 8x8 block of `target` fits best.
///
/// Displacements (dx, dy) from -4 to 3 in both directions are tried. A displacement's cost is the
/// sum, over the block's pixels (x, y) that are inside the image, of the absolute difference of
/// target(x, y) and reference(x + dx, y + dy); `reference` continues beyond its edges with its
/// nearest pixel.
///
/// `target` and `reference` each hold `height` rows of `width` bytes with no padding; both extents
/// are at least 1. Blocks are counted row by row, ceil(width / 8) in a row, ceil(height / 8)
/// rows. For each one `cost` receives the least cost, and `vector` two bytes, dx + 4 and dy + 4;
/// of equal costs the first counts, in order of dy, then of dx.
void block_match_sad(const std::uint8_t *target, const std::uint8_t *reference, std::uint32_t *cost,
                     std::uint8_t *vector, std::size_t width, std::size_t height);

/// The same with squared instead of absolute differences.
void block_match_ssd(const std::uint8_t *target, const std::uint8_t *reference, std::uint32_t *cost,
                     std::uint8_t *vector, std::size_t width, std::size_t height);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_BLOCK_MATCH_REFERENCE_HPP
