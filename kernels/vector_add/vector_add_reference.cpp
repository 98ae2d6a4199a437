// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/problem.hpp"

namespace kiln::reference {

// Modulo 2^32.
KILN_REFERENCE_EXPORT std::int32_t vector_add(const kiln_reference_call *call) {
  const std::size_t n = call->width;
  const Shape row = ints(n, 1);
  if (!takes(call, {row, row}, {row})) return 1;
  const auto *a = in<std::int32_t>(call, 0), *b = in<std::int32_t>(call, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t sum = static_cast<std::uint32_t>(a[i]) + static_cast<std::uint32_t>(b[i]);
    out<std::int32_t>(call, 0)[i] = static_cast<std::int32_t>(sum);
  }
  return 0;
}

}  // namespace kiln::reference
