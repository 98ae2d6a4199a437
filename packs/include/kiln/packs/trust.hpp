// SPDX-License-Identifier: Apache-2.0
// Whether a pack is what somebody signed whose key is known.
#pragma once

#include <vector>

#include "kiln/packs/keys.hpp"

namespace kiln::packs {

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
