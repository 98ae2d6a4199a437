// SPDX-License-Identifier: Apache-2.0
// Implements the functions of kiln_trust with libsodium.
#include <algorithm>
#include <cstring>

#include <sodium.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/trust.hpp"
#include "kiln/signed.h"

namespace {

using kiln::packs::Code;
using kiln::packs::Status;

void hash_256(const void *data, size_t size, unsigned char *digest) {
  crypto_generichash(digest, kiln::packs::kDigestSize, static_cast<const unsigned char *>(data),
                     size, nullptr, 0);
}

Status breaks(const char *rule) {
  return Status::error(Code::bad_argument, {"kiln_trust: ", rule});
}

Status read_demand(const kiln_trust &trust, kiln::packs::Demand *demand, std::uint64_t *number) {
  if (static_cast<unsigned>(trust.policy) > KILN_TRUST_REQUIRE) return breaks("unknown policy");
  demand->threshold = trust.threshold;
  *number = std::max<std::uint32_t>(trust.threshold, 1);
  demand->revision = trust.smallest_revision;
  for (size_t i = 0; i < trust.key_count; ++i) {
    if (trust.keys == nullptr || trust.keys[i] == nullptr) return breaks("a key is NULL");
    kiln::packs::PublicKey key;
    if (Status s = parse_public_key(trust.keys[i], &key); !s.ok()) {
      return breaks(s.message.c_str());
    }
    *number += kiln::packs::xxh3(key.key.data(), key.key.size());  // the order does not matter
    demand->keys.push_back(key);
  }
  return {};
}

Status judge_root(const kiln_trust &trust, kiln_signed_root *judged) {
  kiln::packs::Demand demand;
  if (Status s = read_demand(trust, &demand, &judged->keys); !s.ok()) return s;
  std::vector<kiln::packs::Signature> signatures;
  if (judged->behind_size != 0) {
    // The root begins at a multiple of 64.
    const kiln::packs::View behind{static_cast<const std::uint8_t *>(judged->behind),
                                   judged->behind_size};
    Status s = kiln::packs::decode_signatures(behind, judged->root_size, &signatures);
    if (!s.ok()) return s;
  }
  kiln::packs::Superblock superblock;
  superblock.version = judged->version;
  superblock.incompat = judged->incompat;
  kiln::packs::Digest root;
  hash_256(judged->root, judged->root_size, root.data());
  std::vector<kiln::packs::Signature> found;
  return kiln::packs::find_trusted(superblock, root, signatures, demand, &found);
}

kiln_status judge(const kiln_trust *trust, kiln_signed_root *root) {
  const Status status = judge_root(*trust, root);
  if (status.ok()) return KILN_OK;
  const size_t size = std::min(status.message.size(), sizeof(root->message) - 1);
  std::memcpy(root->message, status.message.data(), size);
  root->message[size] = '\0';
  return status.code == Code::bad_argument ? KILN_ERROR_ARGUMENT : KILN_ERROR_UNTRUSTED;
}

}  // namespace

const kiln_signature_functions *kiln_signatures(void) {
  static const kiln_signature_functions kFunctions = {sizeof(kFunctions), hash_256, judge};
#ifndef KILN_LAYER_SIGNATURES  // in the layer plain code runs, without all of libsodium
  if (sodium_init() < 0) return &kFunctions;  // then plain code runs instead of the fastest
#endif
  return &kFunctions;
}
