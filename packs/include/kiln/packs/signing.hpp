// SPDX-License-Identifier: Apache-2.0
// Signs packs: in the pack, or beside it in minisign's form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kiln/packs/result.hpp"
#include "kiln/packs/trust.hpp"

namespace kiln::packs {

// The BLAKE2b-256 of the root as it is in memory.
Digest root_name(const Pack &pack);

// What signing a pack anew would give: without a revision, that of the pack's other signatures if
// the key has not signed it, so that all vouch for one; else one more than the highest; 1 for a
// pack without any. Code::untrusted if the key has signed a higher one than `revision`.
Result<std::uint64_t> next_revision(const std::vector<Signature> &signatures, const KeyId &key,
                                    std::optional<std::uint64_t> revision);

Signature sign(const Pack &pack, const SecretKey &key, std::uint64_t revision);

// Whether all that the root names has its name: sections, blobs, and nothing between them. What is
// not so must not be signed.
Status check_names(const Pack &pack);

// The same pack, read anew, if it meets the demand, whose sections and blobs are compared with
// their names before they are used. Fails as find_trusted() does, or as reading does.
Status open_trusted(const Pack &pack, const Demand &demand, std::shared_ptr<const Pack> *out);

// Copies the pack with these signatures in place of its own, at most 64; `path` may be the pack's.
Status write_signed(const Pack &pack, const std::vector<Signature> &signatures,
                    const std::string &path);

// A statement with its signature by minisign or by Kiln.
struct Detached {
  std::string statement;  // PACK.statement
  std::string signature;  // PACK.statement.minisig
};

Detached sign_detached(const Pack &pack, const SecretKey &key, std::uint64_t revision);
// The signature of a pack, without looking at its key. Code::signature_corrupt if the texts are not
// of that form, Code::untrusted if the statement is another pack's.
Status read_detached(const Pack &pack, const Detached &texts, Signature *out);

}  // namespace kiln::packs
