// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the dot kernel is compared with.
#ifndef KILN_KERNELS_DOT_REFERENCE_HPP
#define KILN_KERNELS_DOT_REFERENCE_HPP

#include <cstddef>

namespace kiln::reference {

/// out[i] is the dot product of the i-th vectors of `a` and `b`, summed in double.
///
/// `a` and `b` hold `pairs` vectors of four floats, `out` holds `pairs` floats; they do not
/// overlap.
void dot(const float *a, const float *b, float *out, std::size_t pairs);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_DOT_REFERENCE_HPP
