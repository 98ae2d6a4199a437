// SPDX-License-Identifier: Apache-2.0
// A pack: superblock, root, sections and blobs, through the reader and through read_contents().
// Hashes are repaired, so that the mutations come past them.
#include "tests/fuzz/targets/target.hpp"

#include <cstring>
#include <vector>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/hash.hpp"
#include "pack_generated.h"

using namespace kiln::packs;

namespace {

// Where FORMAT.md puts the superblock's fields.
constexpr std::size_t kRootOffsetAt = 24, kRootSizeAt = 32, kRootHashAt = 40, kPackSizeAt = 48,
                      kHashAt = 56;
constexpr std::uint64_t kMaxDecoded = 1u << 20;  // of a blob; more would only take time

std::uint64_t get(const std::uint8_t *at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void put(std::uint8_t *at, std::uint64_t value) { std::memcpy(at, &value, sizeof value); }

// The run of bytes, or null where it is not in the pack.
std::uint8_t *run(View pack, std::uint64_t offset, std::uint64_t size) {
  if (offset > pack.size || size > pack.size - offset) return nullptr;
  return const_cast<std::uint8_t *>(pack.data) + offset;
}

void rehash(View pack) {
  if (pack.size < kSuperblockSize) return;
  std::uint8_t *bytes = run(pack, 0, kSuperblockSize);
  put(bytes + kPackSizeAt, pack.size);
  const std::uint64_t root_size = get(bytes + kRootSizeAt);
  if (const std::uint8_t *root = run(pack, get(bytes + kRootOffsetAt), root_size)) {
    put(bytes + kRootHashAt, xxh3(root, root_size));
  }
  put(bytes + kHashAt, xxh3(bytes, kHashAt));
}

// Of the sections, in the root, which is known to be sound.
void rehash_sections(View pack) {
  const auto *root = flatbuffers::GetRoot<fb::Root>(pack.data + get(pack.data + kRootOffsetAt));
  for (const fb::TargetEntry *entry : *root->targets()) {
    const std::uint8_t *section = run(pack, entry->offset(), entry->size());
    const std::uint64_t recorded = entry->xxh3();
    auto *words = const_cast<std::uint8_t *>(reinterpret_cast<const std::uint8_t *>(entry));
    for (std::size_t at = 0; section != nullptr && at + 8 <= sizeof *entry; at += 8) {
      if (get(words + at) == recorded) put(words + at, xxh3(section, entry->size()));
    }
  }
  rehash(pack);
}

void read_all(const std::shared_ptr<const Pack> &pack) {
  for (const fb::Blob *blob : *pack->schema().blobs()) {
    Bytes scratch;
    View view;
    if (blob->raw_size() <= kMaxDecoded) (void)pack->read_blob(BlobRef(blob), &scratch, &view);
  }
  for (std::size_t i = 0; i < pack->target_count(); ++i) {
    TargetRef section;
    (void)pack->target(i, &section);
  }
  Contents contents;
  (void)read_contents(pack, &contents);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::vector<std::uint64_t> aligned(size / 8 + 1);
  if (size != 0) std::memcpy(aligned.data(), data, size);
  const View bytes{reinterpret_cast<const std::uint8_t *>(aligned.data()), size};
  std::shared_ptr<const Pack> pack;
  if (!Pack::open_memory(bytes, &pack).ok()) {
    rehash(bytes);
    if (!Pack::open_memory(bytes, &pack).ok()) return 0;
  }
  pack.reset();
  rehash_sections(bytes);
  if (Pack::open_memory(bytes, &pack).ok()) read_all(pack);
  return 0;
}
