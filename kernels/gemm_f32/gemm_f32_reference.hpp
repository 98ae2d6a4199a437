// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the gemm_f32 and gemm_f16 kernels is compared with.
#ifndef KILN_KERNELS_GEMM_F32_REFERENCE_HPP
#define KILN_KERNELS_GEMM_F32_REFERENCE_HPP

#include <cstddef>

namespace kiln::reference {

/// C = A B, summed in double precision and rounded once.
///
/// `a` holds `height` rows of `depth` elements, `b` `depth` rows of `width`, `c` `height` rows of
/// `width`. No padding.
void gemm_f32(const float *a, const float *b, float *c, std::size_t width, std::size_t height,
              std::size_t depth);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_GEMM_F32_REFERENCE_HPP
