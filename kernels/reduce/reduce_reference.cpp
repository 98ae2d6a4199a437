// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/reduce_reference.hpp"

namespace kiln::reference {

void reduce(const std::uint32_t *source, std::uint32_t *total, std::size_t n) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += source[i];
  *total = sum;
}

}  // namespace kiln::reference
