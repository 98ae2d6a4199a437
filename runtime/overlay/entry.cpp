// SPDX-License-Identifier: Apache-2.0
// Writes and checks an entry's header field by field.
#include "runtime/overlay/entry.hpp"

#include <algorithm>

#include <cstring>

#include "kiln/packs/bytes.hpp"
#include "runtime/overlay/private_folder.hpp"

namespace kiln::runtime {
namespace {

using packs::Code;
using packs::Status;

constexpr std::uint8_t kMagic[8] = {0x89, 'K', 'L', 'O', '\r', '\n', 0x1a, '\n'};

// Offsets of the header's fields.
enum : std::size_t {
  kVersionAt = 8,
  kReservedAt = 12,
  kSizeAt = 16,
  kBinaryXxh3At = 24,
  kVariantAt = 32,
  kKeySizeAt = 64,
  kFactsSizeAt = 72,
  kTextXxh3At = 80,
  kHeaderXxh3At = 88
};

void put(std::uint8_t *out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint64_t get(const std::uint8_t *in, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(in[i]) << (8 * i);
  return value;
}

// Hashes key and facts together: the hash of both hashes.
std::uint64_t text_hash(std::string_view key, std::string_view facts) {
  const std::uint64_t both[2] = {packs::xxh3(key), packs::xxh3(facts)};
  std::uint8_t bytes[16];
  put(bytes, both[0], 8);
  put(bytes + 8, both[1], 8);
  return packs::xxh3(bytes, sizeof(bytes));
}

}  // namespace

void encode_entry_header(const OverlayEntry &entry, std::uint8_t *out) {
  std::memcpy(out, kMagic, sizeof(kMagic));
  put(out + kVersionAt, kEntryVersion, 4);
  put(out + kReservedAt, 0, 4);
  put(out + kSizeAt, kEntryHeaderSize + entry.key.size() + entry.facts.size() + entry.binary.size,
      8);
  put(out + kBinaryXxh3At, entry.binary_xxh3, 8);
  std::memcpy(out + kVariantAt, entry.variant.data(), packs::kDigestSize);
  put(out + kKeySizeAt, entry.key.size(), 8);
  put(out + kFactsSizeAt, entry.facts.size(), 8);
  put(out + kTextXxh3At, text_hash(entry.key, entry.facts), 8);
  put(out + kHeaderXxh3At, packs::xxh3(out, kHeaderXxh3At), 8);
}

Status parse_entry(packs::View file, OverlayEntry *out) {
  const std::uint8_t *bytes = file.data;
  if (file.size < kEntryHeaderSize) return Status::error(Code::truncated, "truncated");
  if (std::memcmp(bytes, kMagic, sizeof(kMagic)) != 0) {
    return Status::error(Code::bad_magic, "not an entry of an overlay");
  }
  if (packs::xxh3(bytes, kHeaderXxh3At) != get(bytes + kHeaderXxh3At, 8)) {
    return Status::error(Code::blob_corrupt, "its header does not have the recorded hash");
  }
  if (get(bytes + kVersionAt, 4) != kEntryVersion) {
    return Status::error(Code::newer_version, "of another version");
  }
  if (get(bytes + kReservedAt, 4) != 0) {
    return Status::error(Code::reserved_not_zero, "reserved bits are used");
  }
  if (get(bytes + kSizeAt, 8) != file.size) return Status::error(Code::truncated, "truncated");
  const std::uint64_t key_size = get(bytes + kKeySizeAt, 8);
  const std::uint64_t facts_size = get(bytes + kFactsSizeAt, 8);
  const std::uint64_t rest = file.size - kEntryHeaderSize;
  if (key_size > kMaxEntryText || facts_size > kMaxEntryText || key_size + facts_size >= rest) {
    return Status::error(Code::out_of_bounds, "its sizes do not fit");
  }
  const char *text = reinterpret_cast<const char *>(bytes) + kEntryHeaderSize;
  OverlayEntry entry;
  entry.key = {text, static_cast<std::size_t>(key_size)};
  entry.facts = {text + key_size, static_cast<std::size_t>(facts_size)};
  entry.binary = {bytes + kEntryHeaderSize + key_size + facts_size,
                  static_cast<std::size_t>(rest - key_size - facts_size)};
  entry.binary_xxh3 = get(bytes + kBinaryXxh3At, 8);
  std::memcpy(entry.variant.data(), bytes + kVariantAt, packs::kDigestSize);
  if (text_hash(entry.key, entry.facts) != get(bytes + kTextXxh3At, 8) ||
      packs::xxh3(entry.binary.data, entry.binary.size) != entry.binary_xxh3) {
    return Status::error(Code::blob_corrupt, "its bytes do not have the recorded hash");
  }
  *out = entry;
  return {};
}

std::string entry_name(std::uint64_t key_hash, const packs::Digest &variant) {
  return packs::concat(
      {kEntryPrefix, hex64(key_hash), "-", hex64(packs::xxh3(variant.data(), variant.size()))});
}

std::string_view OverlayEntry::fact(std::string_view name) const {
  for (std::string_view rest = facts; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.size() > name.size() && line.substr(0, name.size()) == name &&
        line[name.size()] == '=') {
      return line.substr(name.size() + 1);
    }
  }
  return {};
}

packs::Finality OverlayEntry::finality() const {
  const std::string_view text = fact("final");
  if (text == "yes") return packs::Finality::yes;
  return text == "no" ? packs::Finality::no : packs::Finality::not_launched;
}

}  // namespace kiln::runtime
