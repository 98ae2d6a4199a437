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

// Asked whether bytes have the name, a BLAKE2b-256, that a pack gives them: of each section when it
// is first used, and of each blob after it was decoded. Any thread may ask.
class NameCheck {
 public:
  virtual bool accepts(View bytes, const Digest &name) const = 0;

 protected:
  ~NameCheck() = default;
};

// An open pack. Immutable: after opening, every member may be called from any thread.
// References and views that it hands out live as long as the pack. Its file may be replaced,
// rewritten, cut or removed meanwhile: what was read is in memory, and what is read later is
// checked.
class Pack {
 public:
  ~Pack();

  // Opening reads the superblock and the root, and no section and no blob.
  // `out` is set on success only.
  static Status open_file(const char *path, std::shared_ptr<const Pack> *out);
  // `length` bytes from `offset` of a descriptor, which may be closed afterwards; fewer if
  // the file ends before.
  static Status open_descriptor(int fd, std::uint64_t offset, std::uint64_t length,
                                std::shared_ptr<const Pack> *out);
  // Memory that the caller keeps alive and unchanged. Must be aligned to 8 bytes.
  static Status open_memory(View memory, std::shared_ptr<const Pack> *out);

  // The same file or memory, read anew, whose parts are used only if `check` accepts them. What it
  // refuses is section_corrupt or blob_corrupt.
  Status open_again(std::shared_ptr<const NameCheck> check, std::shared_ptr<const Pack> *out) const;

  const Superblock &superblock() const { return superblock_; }
  ProgramRefs programs() const { return ProgramRefs(root_->programs()); }  // by name

  // Null if the pack has none of that name.
  ProgramRef find_program(std::string_view program) const;
  VariantRef find_variant(std::string_view program, std::string_view variant) const;

  std::size_t target_count() const { return root_->targets()->size(); }
  // The XXH3-64 of a target's key; reads no section.
  std::uint64_t target_key_hash(std::size_t index) const;
  // Target `index`. Its section is read, checked and kept when it is first asked for.
  Status target(std::size_t index, TargetRef *out) const;
  // Finds the target whose canonical key text is `key`. A pack without one gives ok and
  // `*out` null. A damaged section with that key's hash gives its fault.
  Status find_target(std::string_view key, TargetRef *out) const;

  // The blob that a variant gives as its source or IL, or a blob as its base; null for number 0.
  BlobRef blob(std::uint32_t number) const;
  // Reads and decodes a blob of this pack and checks the hash of its raw bytes, which `scratch`
  // owns; those of a raw blob in memory are a view of that. Giving the same `scratch` again saves
  // memory, and saves reading if it still holds the blob.
  Status read_blob(BlobRef blob, Bytes *scratch, View *out) const;
  // The blob's bytes as they are stored, bounds checked, not decoded and not hashed; of a file
  // `scratch` owns them.
  Status stored_bytes(BlobRef blob, Bytes *scratch, View *out) const;
  // Bytes from the superblock on that can be had: the pack, and what follows it in its file.
  std::uint64_t available() const { return storage_.size(); }
  // Of these, as they are, `scratch` owning those of a file.
  Status bytes_at(std::uint64_t offset, std::uint64_t size, Bytes *scratch, View *out) const;

  // The root as it was checked when the pack was opened.
  View root_bytes() const;

  // The root, for packs/ and its tests alone.
  const fb::Root &schema() const { return *root_; }

 private:
  struct Decoder;

  Pack() = default;
  Status open();
  bool has_name(View bytes, const fb::Hash &name) const;
  Status decode_blob(BlobRef blob, Bytes *scratch, View *out) const;
  Status decode(Decoder *decoder, BlobRef blob, unsigned depth, Bytes *scratch, View *out) const;
  Status checked_section(const fb::TargetEntry &entry, const std::uint8_t *bytes) const;

  Storage storage_;
  Superblock superblock_;
  std::shared_ptr<const NameCheck> check_;    // null: names are not looked at
  std::unique_ptr<std::uint8_t[]> own_root_;  // null for a pack in memory
  const fb::Root *root_ = nullptr;
  // The sections that were checked: owned, or in the caller's memory; null until then.
  mutable std::unique_ptr<std::atomic<const std::uint8_t *>[]> sections_;
  // A decoder that no thread is using, or null. Making one costs as much as decoding a small
  // binary.
  mutable std::atomic<Decoder *> spare_decoder_{nullptr};
};

}  // namespace kiln::packs
