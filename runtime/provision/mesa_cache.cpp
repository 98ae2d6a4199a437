// SPDX-License-Identifier: Apache-2.0
// Splits and joins Fossilize databases, after checking sizes and checksums.
#include "runtime/provision/mesa_cache.hpp"

#include <cstring>

namespace kiln::runtime {
namespace {

using packs::Code;
using packs::Status;

// Version 6 of the format, the one that Mesa writes.
constexpr std::uint8_t kFozMagic[kFozMagicSize] = {0x81, 'F', 'O', 'S', 'S', 'I', 'L', 'I',
                                                   'Z',  'E', 'D', 'B', 0,   0,   0,   6};
constexpr std::uint8_t kNotCompressed = 1;  // Fossilize's number; Mesa's payload has its own frame
constexpr std::size_t kFrame = kMesaKeySize + kMesaHeaderSize;

// Offsets of the header's fields from the key's start.
enum : std::size_t {
  kPayloadSizeAt = kMesaKeySize,
  kFormatAt = kMesaKeySize + 4,
  kChecksumAt = kMesaKeySize + 8,
  kDecodedSizeAt = kMesaKeySize + 12
};

void put(std::uint8_t *out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint32_t get32(const std::uint8_t *in) {
  return static_cast<std::uint32_t>(in[0]) | static_cast<std::uint32_t>(in[1]) << 8 |
         static_cast<std::uint32_t>(in[2]) << 16 | static_cast<std::uint32_t>(in[3]) << 24;
}

void append(packs::Bytes *out, const void *bytes, std::size_t size) {
  const std::uint8_t *begin = static_cast<const std::uint8_t *>(bytes);
  out->insert(out->end(), begin, begin + size);
}

void append(packs::Bytes *out, packs::View view) { append(out, view.data, view.size); }

// Takes half a byte at a time: the table has 64 bytes, and a megabyte takes a few milliseconds.
std::uint32_t checksum(packs::View view) {
  static constexpr std::uint32_t kTable[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                               0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                               0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                               0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 0; i < view.size; ++i) {
    crc ^= view.data[i];
    crc = kTable[crc & 15] ^ (crc >> 4);
    crc = kTable[crc & 15] ^ (crc >> 4);
  }
  return crc;
}

bool is_key(const std::uint8_t *bytes) {
  for (std::size_t i = 0; i < kMesaKeySize; ++i) {
    const bool digit = (bytes[i] >= '0' && bytes[i] <= '9') || (bytes[i] >= 'a' && bytes[i] <= 'f');
    if (!digit) return false;
  }
  return true;
}

Status fault(Code what, const char *text, std::size_t offset) {
  return Status::error(what, {"Mesa's cache entry at byte ", packs::decimal(offset), text});
}

// Takes the entry at `*offset`, and moves the offset past it.
Status take_entry(packs::View file, std::size_t *offset, MesaEntry *out) {
  const std::size_t rest = file.size - *offset;
  const std::uint8_t *bytes = file.data + *offset;
  if (rest < kFrame) return fault(Code::truncated, " is cut off", *offset);
  if (!is_key(bytes)) return fault(Code::bad_magic, " has no key of 40 digits", *offset);
  const std::uint32_t size = get32(bytes + kPayloadSizeAt);
  if (size > rest - kFrame) return fault(Code::truncated, " is cut off", *offset);
  if (get32(bytes + kFormatAt) != kNotCompressed || get32(bytes + kDecodedSizeAt) != size) {
    return fault(Code::unknown_feature, " is in a format that is not known", *offset);
  }
  if (checksum({bytes + kFrame, size}) != get32(bytes + kChecksumAt)) {
    return fault(Code::blob_corrupt, " does not have the recorded checksum", *offset);
  }
  out->bytes = {bytes, kFrame + size};
  *offset += out->bytes.size;
  return {};
}

void append_index_entry(packs::Bytes *index, const MesaEntry &entry, std::size_t offset) {
  std::uint8_t rest[kMesaHeaderSize + 8] = {};
  put(rest, 8, 4);
  put(rest + 4, kNotCompressed, 4);
  put(rest + 12, 8, 4);  // the checksum before this stays 0: none
  put(rest + kMesaHeaderSize, offset + kMesaKeySize, 8);
  append(index, entry.bytes.data, kMesaKeySize);
  append(index, rest, sizeof(rest));
}

std::ptrdiff_t offset_of(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

bool is_place_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

bool is_mesa_place(std::string_view place) {
  if (place.size() > kMaxMesaPlaceSize) return false;
  for (unsigned names = 1; names <= 3; ++names) {
    const std::size_t end = place.find('/');
    const std::string_view name = place.substr(0, end);
    if (name.empty() || name == "." || name == "..") return false;
    for (const char c : name) {
      if (!is_place_character(c)) return false;
    }
    if (end == std::string_view::npos) return true;
    place.remove_prefix(end + 1);
  }
  return false;
}

Status parse_mesa_blob(packs::View blob, MesaBlob *out) {
  const std::size_t limit = blob.size < kMaxMesaPlaceSize + 1 ? blob.size : kMaxMesaPlaceSize + 1;
  const void *end = limit == 0 ? nullptr : std::memchr(blob.data, '\n', limit);
  if (end == nullptr) {
    return Status::error(limit == blob.size ? Code::truncated : Code::over_limit,
                         "the blob of Mesa's cache entries does not begin with a place");
  }
  MesaBlob parsed;
  std::size_t offset = static_cast<std::size_t>(static_cast<const std::uint8_t *>(end) - blob.data);
  parsed.place = {reinterpret_cast<const char *>(blob.data), offset};
  if (!is_mesa_place(parsed.place)) {
    return Status::error(Code::bad_argument,
                         "the place of Mesa's cache entries is not a folder below its cache");
  }
  ++offset;
  while (offset < blob.size) {
    const std::size_t begin = offset;
    MesaEntry entry;
    if (Status s = take_entry(blob, &offset, &entry); !s.ok()) return s;
    if (!parsed.entries.empty() && parsed.entries.back().key() >= entry.key()) {
      return fault(Code::conflict, " does not have a larger key than the one before", begin);
    }
    parsed.entries.push_back(entry);
  }
  *out = std::move(parsed);
  return {};
}

void append_mesa_entry(std::string_view key, packs::View payload, packs::Bytes *out) {
  std::uint8_t header[kMesaHeaderSize] = {};
  put(header, payload.size, 4);
  put(header + 4, kNotCompressed, 4);
  put(header + 8, checksum(payload), 4);
  put(header + 12, payload.size, 4);
  append(out, key.data(), key.size());
  append(out, header, sizeof(header));
  append(out, payload);
}

Status parse_foz(packs::View foz, std::vector<MesaEntry> *out) {
  if (foz.size < kFozMagicSize) {
    return Status::error(Code::truncated, "the Fossilize database is cut off");
  }
  if (std::memcmp(foz.data, kFozMagic, kFozMagicSize) != 0) {
    return Status::error(Code::bad_magic, "not a Fossilize database of version 6");
  }
  std::vector<MesaEntry> entries;
  std::size_t offset = kFozMagicSize;
  while (offset < foz.size) {
    MesaEntry entry;
    if (Status s = take_entry(foz, &offset, &entry); !s.ok()) return s;
    entries.push_back(entry);
  }
  *out = std::move(entries);
  return {};
}

Status split_foz(std::string_view place, packs::View foz, const std::vector<MesaEntry> &known,
                 packs::Bytes *out) {
  if (!is_mesa_place(place)) return Status::error(Code::bad_argument, "not a place of Mesa's");
  std::vector<MesaEntry> entries;
  if (Status s = parse_foz(foz, &entries); !s.ok()) return s;
  MesaJoin join;
  join.leave_out(known);
  // If two entries have one key, the join takes the first, and Mesa the last.
  join.add(std::vector<MesaEntry>(entries.rbegin(), entries.rend()));
  *out = {};
  append(out, place.data(), place.size());
  out->push_back('\n');
  join.append_new(out);
  return {};
}

Status MesaJoin::start(packs::View foz) {
  std::vector<MesaEntry> entries;
  if (Status s = parse_foz(foz, &entries); !s.ok()) return s;
  leave_out(entries);
  base_entries_ = std::move(entries);
  return {};
}

void MesaJoin::leave_out(const std::vector<MesaEntry> &entries) {
  for (const MesaEntry &entry : entries) {
    std::size_t at = 0;
    if (!find(entry.key(), &at)) held_.insert(held_.begin() + offset_of(at), {entry, false});
  }
}

void MesaJoin::add(const std::vector<MesaEntry> &entries) {
  for (const MesaEntry &entry : entries) {
    std::size_t at = 0;
    if (find(entry.key(), &at)) continue;
    const std::uint8_t *begin = entry.bytes.data;
    copies_.emplace_back(begin, begin + entry.bytes.size);
    const packs::Bytes &copy = copies_.back();
    held_.insert(held_.begin() + offset_of(at), {{{copy.data(), copy.size()}}, true});
  }
}

void MesaJoin::append_new(packs::Bytes *out) const {
  for (const Held &held : held_) {
    if (held.is_new) append(out, held.entry.bytes);
  }
}

void MesaJoin::finish(FozFiles *out) const {
  *out = {};
  append(&out->index, kFozMagic, kFozMagicSize);
  append(&out->foz, kFozMagic, kFozMagicSize);
  for (const MesaEntry &entry : base_entries_) {
    append_index_entry(&out->index, entry, out->foz.size());
    append(&out->foz, entry.bytes);
  }
  for (const Held &held : held_) {
    if (!held.is_new) continue;
    append_index_entry(&out->index, held.entry, out->foz.size());
    append(&out->foz, held.entry.bytes);
  }
}

// Returns whether the join has the key; sets `*at` to the key's place, also if it would be new.
bool MesaJoin::find(std::string_view key, std::size_t *at) const {
  std::size_t begin = 0;
  std::size_t end = held_.size();
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (held_[middle].entry.key() < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  *at = begin;
  return begin < held_.size() && held_[begin].entry.key() == key;
}

}  // namespace kiln::runtime
