// SPDX-License-Identifier: Apache-2.0
// Entries of Mesa's shader cache, as a pack carries them and as Mesa reads them. Pure.
//
// A pack's auxiliary blob of a variant is one line with the place below mesa_shader_cache_sf
// ("<driver's id>/llvmpipe"), then entries by rising key, each once. An entry is as in Mesa's
// Fossilize databases: 40 hexadecimal digits, a header of four little-endian 32-bit numbers (size
// of the payload, format, checksum, size when decoded), and the payload. A database is two files
// that begin with the same 16 bytes: NAME.foz with entries in any order, NAME_idx.foz with an
// entry for each, whose payload is the offset of its header in NAME.foz, 64 bits.
//
// The checksum is CRC-32 without the complement at its end: the complement of zlib's.
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

// A view of an entry, checked: key, header and payload, one after the other.
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

// Views into the blob that was parsed.
struct MesaBlob {
  std::string_view place;
  std::vector<MesaEntry> entries;
};

// Whether `place` is one to three names, joined by '/', of letters, digits, '.', '_' and '-', none
// of them "." or "..": joined to a folder, it stays below it.
bool is_mesa_place(std::string_view place);

// Checks everything, checksums too. The faults: truncated, over_limit (no line end within
// kMaxMesaPlaceSize), bad_argument (the place), bad_magic (a key), unknown_feature (the payload's
// format), blob_corrupt (a checksum), conflict (keys that do not rise).
packs::Status parse_mesa_blob(packs::View blob, MesaBlob *out);

// Adds an entry to a blob or a database; `key` has kMesaKeySize digits.
void append_mesa_entry(std::string_view key, packs::View payload, packs::Bytes *out);

// The entries of a .foz file in the file's order, checked like a blob's; a key may come twice.
packs::Status parse_foz(packs::View foz, std::vector<MesaEntry> *out);

// A database as Mesa wrote it, as a blob; `known` are entries to leave out, of a database or a
// blob. A key that comes twice counts once, with its last payload, which is the one Mesa reads.
// If all entries are left out, the blob is the place alone.
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

  // Goes on from a database: its bytes stay as they are, and new entries follow them. So an index
  // that a process has read before is right with the new file, and the new index with the old
  // file gives misses, never another entry's payload. At most once and before add(); `foz` must
  // live as long as the join. A fault leaves the join empty.
  packs::Status start(packs::View foz);

  // Entries that add() passes over and that do not go into the files. The same rule of lifetime.
  void leave_out(const std::vector<MesaEntry> &entries);

  // Copies the entries whose keys it does not have yet.
  void add(const std::vector<MesaEntry> &entries);

  bool has_new() const { return !copies_.empty(); }
  std::size_t entry_count() const { return base_entries_.size() + copies_.size(); }

  // What add() copied, rising by key.
  void append_new(packs::Bytes *out) const;

  // Without start() the bytes depend on the set of entries alone.
  void finish(FozFiles *out) const;

 private:
  struct Held {
    MesaEntry entry;
    bool is_new;
  };
  bool find(std::string_view key, std::size_t *at) const;

  std::vector<MesaEntry> base_entries_;  // in the file's order
  std::vector<Held> held_;               // rising by key, each once
  std::vector<packs::Bytes> copies_;     // what the new ones of held_ are views of
};

}  // namespace kiln::runtime
