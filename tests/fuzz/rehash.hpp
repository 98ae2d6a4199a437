// SPDX-License-Identifier: Apache-2.0
// Repairs the hashes of a pack's structure after a mutation, so that it comes past them. Those of
// blobs stay as they were: what they protect is for drivers, which die of it.
#pragma once

#include <cstring>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/pack.hpp"
#include "pack_generated.h"

namespace kiln::test {

using packs::View;
namespace fb = packs::fb;

// Where FORMAT.md puts the superblock's fields.
inline constexpr std::size_t kIncompatAt = 12, kRootOffsetAt = 24, kRootSizeAt = 32,
                             kRootHashAt = 40, kPackSizeAt = 48, kHashAt = 56;

inline std::uint64_t get(const std::uint8_t *at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline void put(std::uint8_t *at, std::uint64_t value) { std::memcpy(at, &value, sizeof value); }

// These bytes of the pack, or null where they are not all in it.
inline std::uint8_t *run(View pack, std::uint64_t offset, std::uint64_t size) {
  if (offset > pack.size || size > pack.size - offset) return nullptr;
  return const_cast<std::uint8_t *>(pack.data) + offset;
}

inline void rehash(View pack) {
  if (pack.size < packs::kSuperblockSize) return;
  std::uint8_t *bytes = run(pack, 0, packs::kSuperblockSize);
  put(bytes + kPackSizeAt, pack.size);
  const std::uint64_t root_size = get(bytes + kRootSizeAt);
  if (const std::uint8_t *root = run(pack, get(bytes + kRootOffsetAt), root_size)) {
    put(bytes + kRootHashAt, packs::xxh3(root, root_size));
  }
  put(bytes + kHashAt, packs::xxh3(bytes, kHashAt));
}

// Of the sections, in the root, which is known to be sound. A root in a frame stays as it is.
inline void rehash_sections(View pack) {
  if ((pack.data[kIncompatAt] & packs::kIncompatFrames) != 0) return;
  const auto *root = flatbuffers::GetRoot<fb::Root>(pack.data + get(pack.data + kRootOffsetAt));
  for (const fb::TargetEntry *entry : *root->targets()) {
    const std::uint64_t size = entry->size();  // which may be overwritten, if it equals the hash
    const std::uint8_t *section = run(pack, entry->offset(), size);
    const std::uint64_t recorded = entry->xxh3();
    auto *words = const_cast<std::uint8_t *>(reinterpret_cast<const std::uint8_t *>(entry));
    for (std::size_t at = 0; section != nullptr && at + 8 <= sizeof *entry; at += 8) {
      if (get(words + at) == recorded) put(words + at, packs::xxh3(section, size));
    }
  }
  rehash(pack);
}

// Both, as far as the pack can be opened.
inline void repair(View bytes) {
  std::shared_ptr<const packs::Pack> pack;
  rehash(bytes);
  const bool sound = packs::Pack::open_memory(bytes, &pack).ok();
  pack.reset();
  if (sound) rehash_sections(bytes);
}

}  // namespace kiln::test
