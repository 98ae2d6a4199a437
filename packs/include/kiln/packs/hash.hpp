// SPDX-License-Identifier: Apache-2.0
// XXH3-64 with seed 0, the hash that guards every part of a pack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::packs {

std::uint64_t xxh3(const void *data, std::size_t size);

}  // namespace kiln::packs
