// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/problem.hpp"

namespace kiln::reference {

// Byte i becomes i mod 256.
KILN_REFERENCE_EXPORT std::int32_t fill(const kiln_reference_call *call) {
  const std::size_t n = call->width;
  if (!takes(call, {}, {bytes(1, n, 1)})) return 1;
  for (std::size_t i = 0; i < n; ++i) out(call, 0)[i] = static_cast<std::uint8_t>(i % 256);
  return 0;
}

}  // namespace kiln::reference
