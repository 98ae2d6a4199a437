// SPDX-License-Identifier: Apache-2.0
// Whether the holder of a known key signed a pack. Keys and detached signatures are minisign's.
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

// Reads the key file that minisign writes, or only its second line, as minisign -P takes it. Fails
// with Code::bad_argument.
Status parse_public_key(std::string_view text, PublicKey *out);

// Reads a detached signature's file, and sets key and bytes. Fails with Code::signature_corrupt.
Status parse_minisig(std::string_view text, Signature *out);

// The accepted keys, the minimum revision, and how many of the keys must have signed; 0 is as 1.
struct Demand {
  std::vector<PublicKey> keys;
  std::uint64_t revision = 0;
  std::uint64_t threshold = 1;
};

// Returns whether the signature is by this key, over this text.
bool signs(const PublicKey &key, std::string_view text, const Signature &signature);

// Returns whether the signature is by this key, over the statement with the signature's revision.
bool fits(const PublicKey &key, const Superblock &superblock, const Digest &root,
          const Signature &signature);

// Of the valid signatures by different accepted keys, finds as many as the threshold demands, those
// with the highest revisions, the newest first. The last one's revision is the one that all vouch
// for, and must meet the demand. Otherwise fails with Code::untrusted, and the message tells the
// nearest miss: too old, too few, not for these contents, by other keys, or not signed at all.
Status find_trusted(const Superblock &superblock, const Digest &root,
                    const std::vector<Signature> &signatures, const Demand &demand,
                    std::vector<Signature> *out);

}  // namespace kiln::packs
