// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the gemm_s16 kernel is compared with.
#ifndef KILN_KERNELS_GEMM_S16_REFERENCE_HPP
#define KILN_KERNELS_GEMM_S16_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// C = A B, modulo 2^32.
///
/// `a` holds `height` rows of `depth` elements, `c` `height` rows of `width`. `b` is stored
/// transposed: `width` rows of `depth` elements, row x being column x of B. No padding.
void gemm_s16(const std::int16_t *a, const std::int16_t *b, std::int32_t *c, std::size_t width,
              std::size_t height, std::size_t depth);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_GEMM_S16_REFERENCE_HPP
