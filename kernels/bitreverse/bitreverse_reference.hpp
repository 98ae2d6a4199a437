// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the bitreverse kernel is compared with.
#ifndef KILN_KERNELS_BITREVERSE_REFERENCE_HPP
#define KILN_KERNELS_BITREVERSE_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// Bit b of each of the `n` elements of `source` becomes bit 31 - b in `destination`.
void bitreverse(const std::uint32_t *source, std::uint32_t *destination, std::size_t n);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_BITREVERSE_REFERENCE_HPP
