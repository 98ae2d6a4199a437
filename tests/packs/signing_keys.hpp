// SPDX-License-Identifier: Apache-2.0
// Two keys that `minisign -G -W` made for the tests, which are no secret, and packs signed by them.
#pragma once

#include "kiln/packs/signing.hpp"
#include "tests/packs/sample.hpp"

namespace kiln::test {

// Its public key is packs/golden/signer.pub.
inline constexpr char kSignerKey[] =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAzSxYu/"
    "qt14bAuqpxBAhdIAUb"
    "bTVoOO4PG8YxUjcqcI84bfO20mOS6wuKPICBIH+YokJUDA2xU9FKwNnr+Xlq0/"
    "EEtYoRqZHmAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAA=\n";
inline constexpr char kSignerPublic[] =
    "untrusted comment: minisign public key 86D7ADFABB582CCD\n"
    "RWTNLFi7+q3XhguKPICBIH+YokJUDA2xU9FKwNnr+Xlq0/EEtYoRqZHm\n";
inline constexpr char kSignerId[] = "86D7ADFABB582CCD";
inline constexpr char kOtherKey[] =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFjbuKOULjM7NuFWURg+"
    "EqcFF"
    "7yq7gb/yNljgh5vgnd64V0JQnDG60h/+2Q51999n7gg2p/3eeaFkLaRyICo/"
    "o2rWWN8mCS5uAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAA=\n";
inline constexpr char kOtherId[] = "CE8C0BE528EE3616";

// `text` is the file of a key.
struct TestKey : packs::SecretKey {
  explicit TestKey(const char *text) { REQUIRE(packs::parse_secret_key(text, "", this).ok()); }
};

inline packs::PublicKey signer() {
  packs::PublicKey key;
  REQUIRE(packs::parse_public_key(kSignerPublic, &key).ok());
  return key;
}

// The pack with these signatures in place of its own.
inline Bytes with_signatures(const Bytes &pack, const std::vector<packs::Signature> &signatures) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "signed.kiln";
  REQUIRE(packs::write_signed(*opened(pack), signatures, path).ok());
  return read_file(path);
}

inline packs::Signature signature_by(const char *key, const Bytes &pack, std::uint64_t revision) {
  return packs::sign(*opened(pack), TestKey(key), revision);
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
  packs::Signature found;
  return packs::find_trusted(open->superblock(), packs::root_name(*open), signatures,
                             {{signer()}, revision}, &found);
}

}  // namespace kiln::test
