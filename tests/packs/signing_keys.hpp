// SPDX-License-Identifier: Apache-2.0
// Packs that are signed by the keys of the tests.
#pragma once

#include "kiln/packs/signing.hpp"
#include "tests/packs/sample.hpp"
#include "tests/support/test_keys.hpp"

namespace kiln::test {

inline packs::PublicKey signer() {
  packs::PublicKey key;
  REQUIRE(packs::parse_public_key(kSignerPublic, &key).ok());
  return key;
}

inline packs::PublicKey other_signer() {
  packs::PublicKey key;
  REQUIRE(packs::parse_public_key(public_line(kOtherKey), &key).ok());
  return key;
}

// The pack with these signatures in place of its own.
inline Bytes with_signatures(const Bytes &pack, const std::vector<packs::Signature> &signatures) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "signed.kiln").string();
  REQUIRE(packs::write_signed(*opened(pack), signatures, path).ok());
  return read_file(path);
}

inline packs::Signature signature_by(const char *key, const Bytes &pack, std::uint64_t revision) {
  return sign(key, *opened(pack), revision);
}

inline std::vector<packs::Signature> signatures_of(const Bytes &pack) {
  std::vector<packs::Signature> signatures;
  REQUIRE(packs::read_signatures(*opened(pack), &signatures).ok());
  return signatures;
}

// Where the signatures of a pack begin.
inline std::size_t block_of(const Bytes &pack) {
  const packs::Superblock s = opened(pack)->superblock();
  return static_cast<std::size_t>(s.root_offset + s.root_size + 63) / 64 * 64;
}

// What is said of a pack by somebody who knows the signer's key alone.
inline Status trust_in(const Bytes &pack, std::uint64_t revision = 0) {
  const PackPointer open = opened(pack);
  std::vector<packs::Signature> signatures;
  if (Status s = packs::read_signatures(*open, &signatures); !s.ok()) return s;
  std::vector<packs::Signature> found;
  return packs::find_trusted(open->superblock(), packs::root_name(*open), signatures,
                             {{signer()}, revision}, &found);
}

}  // namespace kiln::test
