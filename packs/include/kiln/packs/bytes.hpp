// SPDX-License-Identifier: Apache-2.0
// Bytes that are owned here, and a view of those that are owned elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln::packs {

using Bytes = std::vector<std::uint8_t>;

// Bytes that are owned elsewhere.
struct View {
  const std::uint8_t *data = nullptr;
  std::size_t size = 0;
};

}  // namespace kiln::packs
