// SPDX-License-Identifier: Apache-2.0
// One binary of an overlay as a file; runtime/OVERLAY.md has the bytes. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "kiln/packs/pack.hpp"

namespace kiln::runtime {

inline constexpr std::size_t kEntryHeaderSize = 96;
inline constexpr std::uint32_t kEntryVersion = 1;
inline constexpr std::uint64_t kMaxEntryText = 1u << 20;  // limit for the key, and for the facts

// An entry. After parsing, its views point into the file's bytes.
struct OverlayEntry {
  packs::Digest variant{};  // the variant's hash
  std::string_view key;     // canonical text of the device's binary key
  std::string_view facts;   // "name=value" lines like a key's: profile, family, ..., program
  packs::View binary;
  std::uint64_t binary_xxh3 = 0;

  // Returns the value of a fact, with its escapes; empty if absent.
  std::string_view fact(std::string_view name) const;
  packs::Finality finality() const;
};

// Writes the 96 bytes that come before key, facts and binary. binary_xxh3 must be set.
void encode_entry_header(const OverlayEntry &entry, std::uint8_t *out);

// Parses an entry and checks everything, including the hashes. On success the entry's views point
// into `file`.
packs::Status parse_entry(packs::View file, OverlayEntry *out);

// Returns "e-<hash of the key>-<start of the variant's hash>", the only name for that binary.
std::string entry_name(std::uint64_t key_hash, const packs::Digest &variant);
inline constexpr char kEntryPrefix[] = "e-";

}  // namespace kiln::runtime
