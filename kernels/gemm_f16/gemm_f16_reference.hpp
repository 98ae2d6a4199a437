// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the gemm_f16 kernel is compared with.
#ifndef KILN_KERNELS_GEMM_F16_REFERENCE_HPP
#define KILN_KERNELS_GEMM_F16_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// C = A B of halves, each the 16 bits of IEEE 754, summed in double precision and rounded once to
/// float.
///
/// `a` holds `height` rows of `depth` elements, `b` `depth` rows of `width`, `c` `height` rows of
/// `width`. No padding.
void gemm_f16(const std::uint16_t *a, const std::uint16_t *b, float *c, std::size_t width,
              std::size_t height, std::size_t depth);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_GEMM_F16_REFERENCE_HPP
