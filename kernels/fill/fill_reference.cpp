// SPDX-License-Identifier: Apache-2.0
#include "kernels/fill/fill_reference.hpp"

namespace kiln::reference {

void fill(std::uint8_t *out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(i % 256);
}

}  // namespace kiln::reference
