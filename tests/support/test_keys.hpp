// SPDX-License-Identifier: Apache-2.0
// Two keys that `minisign -G -W` made for the tests, which are no secret, and signatures by them:
// what minisign would make of a statement.
#pragma once

#include <array>
#include <cstring>

#include <sodium.h>

#include "kiln/packs/signing.hpp"
#include "tests/support/catch.hpp"

namespace kiln::test {

// Its public key is packs/golden/signer.pub.
inline constexpr char kSignerKey[] =
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAzSxYu/"
    "qt14bAuqpxBAhdIAUbbTVoOO4PG8YxUjcqcI84bfO20mOS6wuKPICBIH+YokJUDA2xU9FKwNnr+Xlq0/"
    "EEtYoRqZHmAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
inline constexpr char kSignerPublic[] =
    "untrusted comment: minisign public key 86D7ADFABB582CCD\n"
    "RWTNLFi7+q3XhguKPICBIH+YokJUDA2xU9FKwNnr+Xlq0/EEtYoRqZHm\n";
inline constexpr char kSignerId[] = "86D7ADFABB582CCD";
inline constexpr char kOtherKey[] =
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFjbuKOULjM7NuFWURg+"
    "EqcFF7yq7gb/yNljgh5vgnd64V0JQnDG60h/+2Q51999n7gg2p/3eeaFkLaRyICo/"
    "o2rWWN8mCS5uAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
inline constexpr char kOtherId[] = "CE8C0BE528EE3616";

// The line of the public key that belongs to a secret key's line.
inline std::string public_line(const char *secret) {
  std::array<std::uint8_t, 158> bytes{};  // the id lies at 54, the public half of the key at 94
  std::size_t size = 0;
  REQUIRE(sodium_base642bin(bytes.data(), bytes.size(), secret, std::strlen(secret), nullptr, &size,
                            nullptr, sodium_base64_VARIANT_ORIGINAL) == 0);
  packs::Bytes line{'E', 'd'};
  line.insert(line.end(), bytes.begin() + 54, bytes.begin() + 62);
  line.insert(line.end(), bytes.begin() + 94, bytes.begin() + 126);
  std::array<char, 57> text{};
  sodium_bin2base64(text.data(), text.size(), line.data(), line.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  return text.data();
}

// The signature of a statement in `bytes`, by the key of which that is the line.
inline packs::Signature sign(const char *key, const std::string &statement,
                             std::uint64_t revision) {
  std::array<std::uint8_t, 158> secret{};  // the id lies at 54, the key at 62
  std::size_t size = 0;
  REQUIRE(sodium_base642bin(secret.data(), secret.size(), key, std::strlen(key), nullptr, &size,
                            nullptr, sodium_base64_VARIANT_ORIGINAL) == 0);
  std::array<std::uint8_t, 64> hash{};
  crypto_generichash(hash.data(), hash.size(),
                     reinterpret_cast<const std::uint8_t *>(statement.data()), statement.size(),
                     nullptr, 0);
  packs::Signature signature;
  signature.revision = revision;
  std::memcpy(signature.key.data(), secret.data() + 54, signature.key.size());
  crypto_sign_detached(signature.bytes.data(), nullptr, hash.data(), hash.size(),
                       secret.data() + 62);
  return signature;
}

inline packs::Signature sign(const char *key, const packs::Pack &pack, std::uint64_t revision) {
  return sign(key, packs::statement(pack.superblock(), packs::root_name(pack), revision), revision);
}

// The two files of a detached signature; Kiln does not look at the signature of the comment.
inline packs::Detached detached_by(const char *key, const std::string &statement) {
  const packs::Signature signature = sign(key, statement, 1);
  packs::Bytes bytes{'E', 'D'};
  bytes.insert(bytes.end(), signature.key.begin(), signature.key.end());
  bytes.insert(bytes.end(), signature.bytes.begin(), signature.bytes.end());
  std::array<char, 101> line{};
  sodium_bin2base64(line.data(), line.size(), bytes.data(), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  return {statement, std::string("untrusted comment: a test\n") + line.data() +
                         "\ntrusted comment: a test\n" + std::string(86, 'A') + "==\n"};
}

}  // namespace kiln::test
