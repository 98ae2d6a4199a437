// SPDX-License-Identifier: Apache-2.0
// Signatures in packs, and beside packs in minisign's form. minisign makes them.
#pragma once

#include <string>
#include <vector>

#include "kiln/packs/trust.hpp"

namespace kiln::packs {

// Returns the BLAKE2b-256 of the root as it is in memory.
Digest root_name(const Pack &pack);

// Adds the signature, or replaces the one by the same key. Fails with Code::untrusted if the old
// one has a higher revision.
Status add_signature(const Signature &signature, std::vector<Signature> *signatures);

// Fails unless every part that the root names matches its name: sections and blobs, with nothing in
// between. A pack that fails must not be signed.
Status check_names(const Pack &pack);

// Opens the same pack again, if it meets the demand; its sections and blobs are then compared with
// their names before use. Fails as find_trusted() does, or as reading does.
Status open_trusted(const Pack &pack, const Demand &demand, std::shared_ptr<const Pack> *out);

// Copies the pack with these signatures, at most 64, instead of its own; `path` may be the pack's.
Status write_signed(const Pack &pack, const std::vector<Signature> &signatures,
                    const std::string &path);

// A statement with its signature by minisign.
struct Detached {
  std::string statement;  // PACK.statement
  std::string signature;  // PACK.statement.minisig
};

// Reads the signature of a pack, without checking its key. Fails with Code::signature_corrupt if
// the texts do not have that form, and with Code::untrusted if the statement is for another pack.
Status read_detached(const Pack &pack, const Detached &texts, Signature *out);

}  // namespace kiln::packs
