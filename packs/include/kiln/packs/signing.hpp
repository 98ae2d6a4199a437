// SPDX-License-Identifier: Apache-2.0
// Signatures put into packs, and those beside packs in minisign's form. minisign makes them.
#pragma once

#include <string>
#include <vector>

#include "kiln/packs/trust.hpp"

namespace kiln::packs {

// The BLAKE2b-256 of the root as it is in memory.
Digest root_name(const Pack &pack);

// Puts the signature in place of the one by its key. Code::untrusted if that one is of a higher
// revision.
Status add_signature(const Signature &signature, std::vector<Signature> *signatures);

// Whether all that the root names has its name: sections, blobs, and nothing between them. What is
// not so must not be signed.
Status check_names(const Pack &pack);

// The same pack, read anew, if it meets the demand, whose sections and blobs are compared with
// their names before they are used. Fails as find_trusted() does, or as reading does.
Status open_trusted(const Pack &pack, const Demand &demand, std::shared_ptr<const Pack> *out);

// Copies the pack with these signatures in place of its own, at most 64; `path` may be the pack's.
Status write_signed(const Pack &pack, const std::vector<Signature> &signatures,
                    const std::string &path);

// A statement with its signature by minisign.
struct Detached {
  std::string statement;  // PACK.statement
  std::string signature;  // PACK.statement.minisig
};

// The signature of a pack, without looking at its key. Code::signature_corrupt if the texts are not
// of that form, Code::untrusted if the statement is another pack's.
Status read_detached(const Pack &pack, const Detached &texts, Signature *out);

}  // namespace kiln::packs
