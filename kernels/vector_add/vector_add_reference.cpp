// SPDX-License-Identifier: Apache-2.0
#include "kernels/vector_add/vector_add_reference.hpp"

namespace kiln::reference {

void vector_add(const std::int32_t *a, const std::int32_t *b, std::int32_t *out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t sum = static_cast<std::uint32_t>(a[i]) + static_cast<std::uint32_t>(b[i]);
    out[i] = static_cast<std::int32_t>(sum);
  }
}

}  // namespace kiln::reference
