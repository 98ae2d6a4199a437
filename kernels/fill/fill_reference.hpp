// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the fill kernel is compared with.
#ifndef KILN_KERNELS_FILL_REFERENCE_HPP
#define KILN_KERNELS_FILL_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// out[i] = i mod 256 for `n` bytes.
void fill(std::uint8_t *out, std::size_t n);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_FILL_REFERENCE_HPP
