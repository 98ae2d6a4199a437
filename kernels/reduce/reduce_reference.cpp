// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/problem.hpp"

namespace kiln::reference {

// The sum of the elements modulo 2^32.
KILN_REFERENCE_EXPORT std::int32_t reduce(const kiln_reference_call *call) {
  const std::size_t n = call->width;
  if (!takes(call, {uints(n, 1)}, {uints(1, 1)})) return 1;
  const auto *source = in<std::uint32_t>(call, 0);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += source[i];
  *out<std::uint32_t>(call, 0) = sum;
  return 0;
}

}  // namespace kiln::reference
