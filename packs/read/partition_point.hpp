// SPDX-License-Identifier: Apache-2.0
// Binary search by index: a pack's vectors are sorted.
#pragma once

#include <cstdint>

namespace kiln::packs {

// Returns the first index in [first, size) that is not `before`; all that are `before` come first.
template <typename Before>
std::uint32_t partition_point(std::uint32_t first, std::uint32_t size, Before before) {
  while (first < size) {
    const std::uint32_t middle = first + (size - first) / 2;
    if (before(middle)) {
      first = middle + 1;
    } else {
      size = middle;
    }
  }
  return first;
}

}  // namespace kiln::packs
