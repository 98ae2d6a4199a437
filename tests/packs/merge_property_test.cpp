// SPDX-License-Identifier: Apache-2.0
// Merging of thousands of small packs that were made at random: associative, commutative and
// idempotent, byte for byte.
#include "tests/packs/random_packs.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

constexpr int kTrials = 1000;  // of three packs each

}  // namespace

TEST_CASE("merging is associative, commutative and idempotent, whatever the packs",
          "[.long][merge]") {
  const PackFolder packs;
  RandomPacks generator;
  int different = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    CAPTURE(trial);
    const Bytes a = packs.write(generator.contents());
    const Bytes b = packs.write(generator.contents());
    const Bytes c = packs.write(generator.contents());
    const Bytes ab = packs.merge_all({a, b});
    const Bytes abc = packs.merge_all({ab, c});
    const bool commutes = packs.merge_all({b, a}) == ab;
    const bool associates = packs.merge_all({a, packs.merge_all({b, c})}) == abc;
    const bool in_any_order = packs.merge_all({c, a, b}) == abc;
    const bool is_idempotent =
        packs.merge_all({a, a}) == a && packs.merge_all({abc, b, abc}) == abc;
    CHECK(commutes);
    CHECK(associates);
    CHECK(in_any_order);
    CHECK(is_idempotent);
    different += ab != a && ab != b ? 1 : 0;
  }
  CHECK(different > kTrials / 2);  // these are no packs that have nothing to unite
}
