// SPDX-License-Identifier: Apache-2.0
#include "kiln/packs/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::packs {

std::uint64_t xxh3(const void *data, std::size_t size) { return XXH3_64bits(data, size); }

}  // namespace kiln::packs
