// SPDX-License-Identifier: Apache-2.0
// The only file that compiles xxHash, which is inlined.
#include "kiln/packs/bytes.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::packs {

std::uint64_t xxh3(const void *data, std::size_t size) { return XXH3_64bits(data, size); }

}  // namespace kiln::packs
