// SPDX-License-Identifier: Apache-2.0
// Holds signatures against the keys that are known.
#include "kiln/packs/trust.hpp"

#include <algorithm>

namespace kiln::packs {
namespace {

Status untrusted(std::initializer_list<std::string_view> parts) {
  return Status::error(Code::untrusted, parts);
}

std::string key_list(const std::vector<Signature> &signatures) {
  std::string text;
  for (const Signature &signature : signatures) {
    text += concat({text.empty() ? "" : ", ", key_text(signature.key)});
  }
  return text;
}

}  // namespace

bool fits(const PublicKey &key, const Superblock &superblock, const Digest &root,
          const Signature &signature) {
  if (key.id != signature.key) return false;
  const std::string text = statement(superblock, root, signature.revision);
  const auto hash = blake2b_512({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
  return fits(key, {hash.data(), hash.size()}, signature.bytes.data());
}

Status find_trusted(const Superblock &superblock, const Digest &root,
                    const std::vector<Signature> &signatures, const Demand &demand,
                    Signature *out) {
  if (signatures.empty()) return untrusted({"the pack is not signed"});
  const Signature *newest = nullptr;
  const Signature *misfit = nullptr;
  for (const Signature &signature : signatures) {
    for (const PublicKey &key : demand.keys) {
      if (key.id != signature.key) continue;
      if (!fits(key, superblock, root, signature)) {
        misfit = &signature;
      } else if (newest == nullptr || newest->revision < signature.revision) {
        newest = &signature;
      }
    }
  }
  if (newest != nullptr && newest->revision >= demand.revision) {
    *out = *newest;
    return {};
  }
  if (newest != nullptr) {
    return untrusted({"the pack is of revision ", decimal(newest->revision),
                      ", and the smallest that is demanded is ", decimal(demand.revision)});
  }
  if (misfit != nullptr) {
    return untrusted({"the signature of the key ", key_text(misfit->key),
                      " does not fit: the pack is not what was signed, or another key signed it"});
  }
  return untrusted({"the pack is signed by other keys only: ", key_list(signatures)});
}

}  // namespace kiln::packs
