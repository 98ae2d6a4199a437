// SPDX-License-Identifier: Apache-2.0
// The table of a store that holds bytes by their BLAKE2b-256, each once, compressed by zstd.
#pragma once

#include <optional>

#include "builder/store/database.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// In a transaction of the caller's; does nothing where the table has these bytes undamaged.
void put_blob(Database &database, const packs::Digest &name, packs::View bytes);

// Nothing if there is no such blob. One whose bytes do not have that name is damaged: it is
// removed, so that it can be put again, and nothing is returned.
std::optional<packs::Bytes> read_blob(Database &database, const packs::Digest &name);

inline packs::View view_of(const packs::Digest &digest) { return {digest.data(), digest.size()}; }

}  // namespace kiln::builder
