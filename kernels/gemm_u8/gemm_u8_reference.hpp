// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the gemm_u8 kernel is compared with.
#ifndef KILN_KERNELS_GEMM_U8_REFERENCE_HPP
#define KILN_KERNELS_GEMM_U8_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// C = A B, modulo 2^32.
///
/// `a` holds `height` rows of `depth` bytes, `c` `height` rows of `width` elements. `b` is stored
/// transposed: `width` rows of `depth` bytes, row x being column x of B. No padding.
void gemm_u8(const std::uint8_t *a, const std::uint8_t *b, std::uint32_t *c, std::size_t width,
             std::size_t height, std::size_t depth);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_GEMM_U8_REFERENCE_HPP
