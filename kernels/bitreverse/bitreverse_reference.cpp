// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/problem.hpp"

namespace kiln::reference {

// Bit b of each element becomes bit 31 - b.
KILN_REFERENCE_EXPORT std::int32_t bitreverse(const kiln_reference_call *call) {
  const std::size_t n = call->width;
  if (!takes(call, {uints(n, 1)}, {uints(n, 1)})) return 1;
  const auto *source = in<std::uint32_t>(call, 0);
  auto *destination = out<std::uint32_t>(call, 0);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t reversed = 0;
    for (unsigned bit = 0; bit < 32; ++bit) reversed |= (source[i] >> bit & 1u) << (31u - bit);
    destination[i] = reversed;
  }
  return 0;
}

}  // namespace kiln::reference
