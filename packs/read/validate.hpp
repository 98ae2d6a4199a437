// SPDX-License-Identifier: Apache-2.0
// The rules of FORMAT.md that the FlatBuffers verifier cannot know.
#pragma once

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/format.hpp"
#include "kiln/packs/refs.hpp"

namespace kiln::packs {

// Place, size and codec rules of a blob entry, whose base is one of the root's first `bases` blobs.
Status check_blob(const fb::Blob &blob, const Superblock &superblock, std::uint32_t bases);

// All rules but the hash of the bytes themselves. `bytes` must be aligned to 8; `out` is set
// on success only and points into them. The time and the memory that follow are bounded by their
// size, whatever they say. The writer holds what it writes against these, too.
Status check_root(View bytes, const Superblock &superblock, const fb::Root **out);
// `bases` is the number of the root's blobs.
Status check_section(View bytes, const fb::TargetEntry &entry, const Superblock &superblock,
                     std::uint32_t bases);

}  // namespace kiln::packs
