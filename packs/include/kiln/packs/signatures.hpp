// SPDX-License-Identifier: Apache-2.0
// The signatures after a pack's root, and the statement that they sign. Verifies nothing: that
// needs libsodium, which the reader does without (trust.hpp).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/packs/pack.hpp"

namespace kiln::packs {

inline constexpr std::size_t kMaxSignatures = 64;
inline constexpr std::size_t kSignatureHeaderSize = 16;
inline constexpr std::size_t kSignatureEntrySize = 80;
inline constexpr std::size_t kMaxSignatureBlock =
    kSignatureHeaderSize + kMaxSignatures * kSignatureEntrySize + 8;

// A key's id, as in minisign: eight random bytes that come with the key.
using KeyId = std::array<std::uint8_t, 8>;

// Returns the id as minisign prints it: 16 upper-case digits, the last byte first.
std::string key_text(const KeyId &id);

struct Signature {
  KeyId key{};
  std::uint64_t revision = 0;
  std::array<std::uint8_t, 64> bytes{};
};

// Returns the signed text, as in FORMAT.md. `root` is the BLAKE2b-256 of the root's bytes.
std::string statement(const Superblock &superblock, const Digest &root, std::uint64_t revision);

// Returns the block of these signatures, given in any order; their keys must differ.
Bytes encode_signatures(std::vector<Signature> signatures);
// Reads the bytes from the root's end to the pack's end: zeros up to a multiple of 64, then a
// block. `past` is how far the root's end lies past such a multiple. Fails with
// Code::signature_corrupt.
Status decode_signatures(View behind_root, std::size_t past, std::vector<Signature> *out);

// Returns how many bytes follow the root of a pack that has signatures.
std::uint64_t size_behind_root(const Superblock &superblock);
// Returns the same without the padding.
std::uint64_t signature_block_size(const Superblock &superblock);
// Reads a pack's signatures; there are none if the pack is not signed.
Status read_signatures(const Pack &pack, std::vector<Signature> *out);

}  // namespace kiln::packs
