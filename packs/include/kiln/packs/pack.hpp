// SPDX-License-Identifier: Apache-2.0
// The reader of a pack. No exceptions, no RTTI, no OpenCL, no printing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "kiln/packs/format.hpp"
#include "kiln/packs/refs.hpp"
#include "kiln/packs/status.hpp"

struct ZSTD_DCtx_s;

namespace kiln::packs {

using Bytes = std::vector<std::uint8_t>;

// Bytes that are owned elsewhere.
struct View {
  const std::uint8_t *data = nullptr;
  std::size_t size = 0;
};

// The memory that a pack is read from: a map or a copy, both owned, or the caller's.
class Storage {
 public:
  Storage() = default;
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;
  ~Storage();

  Status map(int fd, std::uint64_t offset, std::uint64_t length);
  void borrow(View view) { view_ = view; }
  View view() const { return view_; }

 private:
  Status copy(int fd, std::uint64_t offset, std::uint64_t length);

  View view_;
  void *map_ = nullptr;
  std::size_t map_size_ = 0;
  std::unique_ptr<std::uint64_t[]> copy_;
};

// An open pack. Immutable: after opening, every member may be called from any thread.
// References and views that it hands out live as long as the pack. A mapped file must not
// be shortened while it is open; replace packs by rename, as the writer does.
class Pack {
 public:
  ~Pack();

  // Opening reads the superblock and the root, and no section and no blob.
  // `out` is set on success only.
  static Status open_file(const char *path, std::shared_ptr<const Pack> *out);
  // `length` bytes from `offset` of a descriptor, which may be closed afterwards; fewer if
  // the file ends before. The pack is mapped, or copied if it cannot be (a misaligned offset,
  // no mmap support).
  static Status open_descriptor(int fd, std::uint64_t offset, std::uint64_t length,
                                std::shared_ptr<const Pack> *out);
  // Memory that the caller keeps alive and unchanged. Must be aligned to 8 bytes.
  static Status open_memory(View memory, std::shared_ptr<const Pack> *out);

  const Superblock &superblock() const { return superblock_; }
  ProgramRefs programs() const { return ProgramRefs(root_->programs()); }  // by name

  // Null if the pack has none of that name.
  ProgramRef find_program(std::string_view program) const;
  VariantRef find_variant(std::string_view program, std::string_view variant) const;

  std::size_t target_count() const { return root_->targets()->size(); }
  // The XXH3-64 of a target's key; reads no section.
  std::uint64_t target_key_hash(std::size_t index) const;
  // Target `index`. Its section is checked when it is first asked for.
  Status target(std::size_t index, TargetRef *out) const;
  // Finds the target whose canonical key text is `key`. A pack without one gives ok and
  // `*out` null. A damaged section with that key's hash gives its fault.
  Status find_target(std::string_view key, TargetRef *out) const;

  // The blob that a variant gives as its source or IL; null for number 0.
  BlobRef blob(std::uint32_t number) const;
  // Decodes a blob of this pack and checks the hash of its raw bytes. A raw blob
  // is a view into the pack; of another, `scratch` owns the decoded bytes. Giving the same
  // `scratch` again saves memory, and saves decoding if it still holds the blob.
  Status read_blob(BlobRef blob, Bytes *scratch, View *out) const;
  // The blob's bytes as they are stored, bounds checked, not decoded and not hashed.
  Status stored_bytes(BlobRef blob, View *out) const;

  // The root, for packs/ and its tests alone.
  const fb::Root &schema() const { return *root_; }

 private:
  Pack() = default;
  Status open(View view);
  Status decode_zstd(View stored, std::uint64_t raw_size, Bytes *out) const;

  Storage storage_;
  View view_;
  Superblock superblock_;
  const fb::Root *root_ = nullptr;
  mutable std::unique_ptr<std::atomic<bool>[]> section_checked_;
  // A zstd context that no thread is using, or null. Making one costs as much as decoding
  // a small binary.
  mutable std::atomic<ZSTD_DCtx_s *> spare_decoder_{nullptr};
};

}  // namespace kiln::packs
