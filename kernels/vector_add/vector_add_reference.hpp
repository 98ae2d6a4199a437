// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the vector_add kernel is compared with.
#ifndef KILN_KERNELS_VECTOR_ADD_REFERENCE_HPP
#define KILN_KERNELS_VECTOR_ADD_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// out = a + b modulo 2^32, element by element; each holds `n` elements.
void vector_add(const std::int32_t *a, const std::int32_t *b, std::int32_t *out, std::size_t n);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_VECTOR_ADD_REFERENCE_HPP
