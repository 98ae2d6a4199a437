// SPDX-License-Identifier: Apache-2.0
// One binary of an overlay as a file; runtime/OVERLAY.md has the bytes. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "kiln/packs/pack.hpp"

namespace kiln::runtime {

inline constexpr std::size_t kEntryHeaderSize = 96;
inline constexpr std::uint32_t kEntryVersion = 1;
inline constexpr std::uint64_t kMaxEntryText = 1u << 20;  // key, or facts

// An entry. After parsing its views point into the file's bytes.
struct OverlayEntry {
  packs::Digest variant{};  // its hash
  std::string_view key;     // canonical text of the device's binary key
  std::string_view facts;   // "name=value" lines like a key's: profile, family, ..., program
  packs::View binary;
  std::uint64_t binary_xxh3 = 0;

  // The fact of that name with its escapes; an absent one is empty.
  std::string_view fact(std::string_view name) const;
  packs::Finality finality() const;
};

// The 96 bytes that come before key, facts and binary. binary_xxh3 must be set.
void encode_entry_header(const OverlayEntry &entry, std::uint8_t *out);

// Checks everything, hashes too. On success the entry's views point into `file`.
packs::Status parse_entry(packs::View file, OverlayEntry *out);

// "e-<hash of the key>-<start of the variant's hash>": the one place for that binary.
std::string entry_name(std::uint64_t key_hash, const packs::Digest &variant);
inline constexpr char kEntryPrefix[] = "e-";

}  // namespace kiln::runtime
