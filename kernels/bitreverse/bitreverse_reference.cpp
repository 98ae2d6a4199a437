// SPDX-License-Identifier: Apache-2.0
#include "kernels/bitreverse/bitreverse_reference.hpp"

namespace kiln::reference {

void bitreverse(const std::uint32_t *source, std::uint32_t *destination, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t reversed = 0;
    for (unsigned bit = 0; bit < 32; ++bit) reversed |= (source[i] >> bit & 1u) << (31u - bit);
    destination[i] = reversed;
  }
}

}  // namespace kiln::reference
