// SPDX-License-Identifier: Apache-2.0
// Owned bytes, a view of bytes, and XXH3-64 with seed 0, the hash that guards every part of a pack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kiln::packs {

using Bytes = std::vector<std::uint8_t>;

// Bytes that are owned elsewhere.
struct View {
  const std::uint8_t *data = nullptr;
  std::size_t size = 0;
};

std::uint64_t xxh3(const void *data, std::size_t size);
inline std::uint64_t xxh3(std::string_view text) { return xxh3(text.data(), text.size()); }

}  // namespace kiln::packs
