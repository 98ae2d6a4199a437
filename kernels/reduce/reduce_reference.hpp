// SPDX-License-Identifier: Apache-2.0
// The truth that every variant of the reduce kernel is compared with.
#ifndef KILN_KERNELS_REDUCE_REFERENCE_HPP
#define KILN_KERNELS_REDUCE_REFERENCE_HPP

#include <cstddef>
#include <cstdint>

namespace kiln::reference {

/// The sum of the `n` elements of `source` modulo 2^32, in `*total`.
void reduce(const std::uint32_t *source, std::uint32_t *total, std::size_t n);

}  // namespace kiln::reference

#endif  // KILN_KERNELS_REDUCE_REFERENCE_HPP
