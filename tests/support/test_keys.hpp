// SPDX-License-Identifier: Apache-2.0
// Two keys that `minisign -G -W` made for the tests, which are no secret.
#pragma once

#include "kiln/packs/keys.hpp"
#include "tests/support/catch.hpp"

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

}  // namespace kiln::test
