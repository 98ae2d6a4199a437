// SPDX-License-Identifier: Apache-2.0
// Whether a pack is what somebody signed whose key is known. Keys and detached signatures are
// minisign's.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "kiln/packs/signatures.hpp"

namespace kiln::packs {

struct PublicKey {
  KeyId id{};
  std::array<std::uint8_t, 32> key{};
};

// Reads the file that minisign writes, or its second line alone, which is what minisign -P takes.
// Code::bad_argument.
Status parse_public_key(std::string_view text, PublicKey *out);

// Reads the file of a detached signature, whose key and bytes it sets. Code::signature_corrupt.
Status parse_minisig(std::string_view text, Signature *out);

// Whose signature is believed, and from which revision on.
struct Demand {
  std::vector<PublicKey> keys;
  std::uint64_t revision = 0;  // the smallest
};

// Whether the signature is the key's, of the statement with its revision.
bool fits(const PublicKey &key, const Superblock &superblock, const Digest &root,
          const Signature &signature);

// The first of `signatures` that meets the demand. Else Code::untrusted, and the message says what
// comes nearest: too old, not of these contents, by other keys, or not signed at all.
Status find_trusted(const Superblock &superblock, const Digest &root,
                    const std::vector<Signature> &signatures, const Demand &demand, Signature *out);

}  // namespace kiln::packs
