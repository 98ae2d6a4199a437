// SPDX-License-Identifier: Apache-2.0
// Entries of Mesa's shader cache, as a pack stores them and as Mesa reads them. Pure.
//
// A variant's blob of cache entries in a pack is one line with the place below mesa_shader_cache_sf
// ("<driver's id>/llvmpipe"), then entries by rising key, each once. An entry has the form of
// Mesa's Fossilize databases: 40 hexadecimal digits, a header of four little-endian 32-bit numbers
// (payload size, format, checksum, decoded size), and the payload. A database is two files that
// begin with the same 16 bytes: NAME.foz with entries in any order, and NAME_idx.foz with an entry
// for each, whose payload is the 64-bit offset of that entry's header in NAME.foz.
//
// The checksum is CRC-32 without the final complement: the complement of zlib's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kiln/packs/pack.hpp"

namespace kiln::runtime {

inline constexpr std::size_t kMesaKeySize = 40;
inline constexpr std::size_t kMesaHeaderSize = 16;  // between key and payload
inline constexpr std::size_t kFozMagicSize = 16;    // at the start of both files
inline constexpr std::size_t kFozIndexEntrySize = kMesaKeySize + kMesaHeaderSize + 8;
inline constexpr std::size_t kMaxMesaPlaceSize = 255;

// A checked view of an entry: key, header and payload, one after the other.
struct MesaEntry {
  packs::View bytes;
  std::string_view key() const {
    return {reinterpret_cast<const char *>(bytes.data), kMesaKeySize};
  }
  packs::View payload() const {
    constexpr std::size_t kFrame = kMesaKeySize + kMesaHeaderSize;
    return {bytes.data + kFrame, bytes.size - kFrame};
  }
};

// Views into the parsed blob.
struct MesaBlob {
  std::string_view place;
  std::vector<MesaEntry> entries;
};

// Returns whether `place` is one to three names, joined by '/', of letters, digits, '.', '_' and
// '-', none of them "." or "..": joined to a folder, such a place stays below that folder.
bool is_mesa_place(std::string_view place);

// Checks everything, including checksums. Fails with truncated, over_limit (no line end within
// kMaxMesaPlaceSize), bad_argument (the place), bad_magic (a key), unknown_feature (the payload's
// format), blob_corrupt (a checksum) or conflict (keys that do not rise).
packs::Status parse_mesa_blob(packs::View blob, MesaBlob *out);

// Adds an entry to a blob or a database; `key` has kMesaKeySize digits.
void append_mesa_entry(std::string_view key, packs::View payload, packs::Bytes *out);

// Reads the entries of a .foz file in the file's order, checked like a blob's; a key may come
// twice.
packs::Status parse_foz(packs::View foz, std::vector<MesaEntry> *out);

// Makes a blob from a database that Mesa wrote, without the entries in `known`, which come from a
// database or a blob. A key that comes twice counts once, with its last payload, which Mesa reads.
// If all entries are left out, the blob is only the place.
packs::Status split_foz(std::string_view place, packs::View foz,
                        const std::vector<MesaEntry> &known, packs::Bytes *out);

// The two files of one database.
struct FozFiles {
  packs::Bytes foz;
  packs::Bytes index;
};

// Joins blobs of one place into a database.
class MesaJoin {
 public:
  MesaJoin() = default;
  MesaJoin(const MesaJoin &) = delete;
  MesaJoin &operator=(const MesaJoin &) = delete;

  // Continues a database: its bytes stay unchanged, and new entries follow them. So an index that a
  // process read earlier fits the new file, and the new index with the old file gives misses, never
  // another entry's payload. Call it at most once and before add(); `foz` must live as long as the
  // join. A failure leaves the join empty.
  packs::Status start(packs::View foz);

  // Makes add() skip these entries; the files do not get them. They must live as long as the join.
  void leave_out(const std::vector<MesaEntry> &entries);

  // Copies the entries whose keys the join does not have yet.
  void add(const std::vector<MesaEntry> &entries);

  std::size_t entry_count() const { return base_entries_.size() + copies_.size(); }

  // Appends the entries that add() copied, by rising key.
  void append_new(packs::Bytes *out) const;

  // Makes the two files. Without start() the bytes depend only on the set of entries.
  void finish(FozFiles *out) const;

 private:
  struct Held {
    MesaEntry entry;
    bool is_new;
  };
  bool find(std::string_view key, std::size_t *at) const;

  std::vector<MesaEntry> base_entries_;  // in file order
  std::vector<Held> held_;               // by rising key, each once
  std::vector<packs::Bytes> copies_;     // bytes of the new entries in held_
};

}  // namespace kiln::runtime
