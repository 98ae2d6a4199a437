// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the gemm_s8 kernels is compared with.
#ifndef KILN_KERNELS_GEMM_S8_REFERENCE_HPP
#define KILN_KERNELS_GEMM_S8_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// C = bias + A B. In order of k, the sum of four products, exact, is added at a time, and each
/// addition saturates to 32 bits.
///
/// `a` holds `height` rows of `depth` bytes, `c` `height` rows of `width` elements. `b` is stored
/// transposed: `width` rows of `depth` bytes, row x being column x of B. No padding.
void gemm_s8(const std::int8_t *a, const std::int8_t *b, std::int32_t *c, std::size_t width,
             std::size_t height, std::size_t depth, std::int32_t bias);

/// The same with B's bytes unsigned.
void gemm_su8(const std::int8_t *a, const std::uint8_t *b, std::int32_t *c, std::size_t width,
              std::size_t height, std::size_t depth, std::int32_t bias);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_GEMM_S8_REFERENCE_HPP
