// SPDX-License-Identifier: Apache-2.0
// The reader of a pack. No exceptions, no RTTI, no OpenCL, no printing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "kiln/packs/format.hpp"
#include "kiln/packs/refs.hpp"
#include "kiln/packs/storage.hpp"

namespace kiln::packs {

// Compares bytes with their name in a pack, a BLAKE2b-256: each section at its first use, and each
// blob after decoding. Any thread may call it.
class NameCheck {
 public:
  virtual bool accepts(View bytes, const Digest &name) const = 0;

 protected:
  ~NameCheck() = default;
};

// An open pack. Immutable: after opening, every member may be called from any thread. References
// and views from a pack live as long as the pack. Its file may be replaced, rewritten, cut or
// removed meanwhile: bytes that were read are in memory, and bytes that are read later are checked.
class Pack {
 public:
  ~Pack();

  // Opens a file: reads the superblock and the root, but no section and no blob, and checks no
  // program. Sets `out` only on success.
  static Status open_file(const char *path, std::shared_ptr<const Pack> *out);
  // Opens `length` bytes from `offset` of a descriptor, which may be closed afterwards; fewer if
  // the file ends earlier.
  static Status open_descriptor(int fd, std::uint64_t offset, std::uint64_t length,
                                std::shared_ptr<const Pack> *out);
  // Returns whether the application has closed the pack's descriptor: reads fail.
  bool is_lost() const { return storage_.is_lost(); }
  // Opens memory that the caller keeps alive and unchanged. It must be aligned to 8 bytes.
  static Status open_memory(View memory, std::shared_ptr<const Pack> *out);

  // Opens the same file or memory again; its parts are used only if `check` accepts them. A refused
  // part is section_corrupt or blob_corrupt.
  Status open_again(std::shared_ptr<const NameCheck> check, std::shared_ptr<const Pack> *out) const;

  const Superblock &superblock() const { return superblock_; }

  // Gets all programs, by name. Checks them at the first use.
  Status programs(ProgramRefs *out) const;
  // Get null if the pack has none of that name. Check this program alone, at the first use.
  Status find_program(std::string_view program, ProgramRef *out) const;
  Status find_variant(std::string_view program, std::string_view variant, VariantRef *out) const;

  std::size_t target_count() const { return target_count_; }
  // Returns the XXH3-64 of a target's key; reads no section.
  std::uint64_t target_key_hash(std::size_t index) const;
  // Gets target `index`. Reads, checks and keeps its section at the first use.
  Status target(std::size_t index, TargetRef *out) const;
  // Finds the target whose canonical key text is `key`. If the pack has none, returns ok and sets
  // `*out` to null. Fails if a section with that key's hash is damaged.
  Status find_target(std::string_view key, TargetRef *out) const;

  // Returns the blob for a variant's source or IL number, or for a blob's base; null for number 0.
  BlobRef blob(std::uint32_t number) const;
  // Reads and decodes a blob of this pack and checks the hash of its raw bytes. `scratch` owns the
  // bytes, unless the blob is raw and in memory: then `*out` is a view of the memory. Passing the
  // same `scratch` again saves memory, and saves reading if it still holds the blob.
  Status read_blob(BlobRef blob, Bytes *scratch, View *out) const;
  // Gets the blob's stored bytes, with bounds checked, neither decoded nor hashed. `scratch` owns
  // the bytes of a file.
  Status stored_bytes(BlobRef blob, Bytes *scratch, View *out) const;
  // Returns the number of bytes from the superblock on: the pack, and what follows in its file.
  std::uint64_t available() const { return storage_.size(); }
  // Gets some of these bytes as they are; `scratch` owns the bytes of a file.
  Status bytes_at(std::uint64_t offset, std::uint64_t size, Bytes *scratch, View *out) const;

  // Returns the stored bytes of the root, which were checked when the pack was opened.
  View root_bytes() const;

  // Returns the root, whose programs may be read after programs(); only for packs/ and its tests.
  const fb::Root &schema() const { return *root_; }

 private:
  struct Decoder;

  Pack() = default;
  Status open();
  bool has_name(View bytes, const fb::Hash &name) const;
  Status decode_blob(BlobRef blob, Bytes *scratch, View *out) const;
  Status decode(Decoder *decoder, BlobRef blob, unsigned depth, Bytes *scratch, View *out) const;
  Status checked_section(const fb::TargetEntry &entry, std::unique_ptr<std::uint8_t[]> *own,
                         View *section) const;
  Status unpack(View stored, std::uint64_t limit, Code malformed,
                std::unique_ptr<std::uint8_t[]> *own, View *out) const;
  bool owns(const std::uint8_t *section) const;

  Storage storage_;
  Superblock superblock_;
  std::shared_ptr<const NameCheck> check_;         // null: names are not checked
  std::unique_ptr<std::uint8_t[]> own_root_;       // as stored; null for a pack in memory
  std::unique_ptr<std::uint8_t[]> unpacked_root_;  // null if the root is not in a frame
  View root_view_;                                 // unpacked
  const fb::Root *root_ = nullptr;
  // For each program, then for all of them: whether it was checked.
  mutable std::unique_ptr<std::atomic<bool>[]> checked_;
  std::size_t target_count_ = 0;  // kept, since a caller may free the root before the pack
  // The checked sections, owned or in the caller's memory; null before their first use.
  mutable std::unique_ptr<std::atomic<const std::uint8_t *>[]> sections_;
  // A decoder that no thread is using, or null. Creating one costs as much as decoding a small
  // binary.
  mutable std::atomic<Decoder *> spare_decoder_{nullptr};
};

}  // namespace kiln::packs
