// SPDX-License-Identifier: Apache-2.0
// What holds of any packs, shown on many that are made at random.
#include "tests/packs/random_packs.hpp"

#include "builder/inspect/pack_diff.hpp"
#include "builder/inspect/pack_sizes.hpp"
#include "builder/inspect/pack_slice.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr int kPackTrials = 200;

}  // namespace

TEST_CASE("packs have a difference where their bytes do, and no others", "[diff]") {
  const PackFolder folder;
  RandomPacks random;
  for (int trial = 0; trial < kPackTrials / 5; ++trial) {
    CAPTURE(trial);
    const Bytes a = folder.write(random.contents());
    const Bytes both = folder.merge_all({a, folder.write(random.contents())});
    const Contents of_a = contents_of(opened(a));
    CHECK(builder::compare_packs(of_a, contents_of(opened(both))).empty() == (a == both));
    const Bytes again = folder.write(of_a);
    CHECK(builder::compare_packs(of_a, contents_of(opened(again))).empty());
  }
}

TEST_CASE("the parts of any pack are the whole file", "[sizes]") {
  const PackFolder folder;
  RandomPacks random;
  for (int trial = 0; trial < kPackTrials; ++trial) {
    CAPTURE(trial);
    const Bytes bytes = folder.write(random.contents());
    const PackPointer pack = opened(bytes);
    const auto sizes = builder::measure_pack(*pack, contents_of(pack), bytes.size());
    REQUIRE(sizes.ok());
    CHECK(sizes->file() == bytes.size());
  }
}

TEST_CASE("the slices of all targets merge to the pack, whatever is in it", "[slice]") {
  const PackFolder folder;
  RandomPacks random;
  for (int trial = 0; trial < kPackTrials; ++trial) {
    CAPTURE(trial);
    const Contents contents = random.contents();
    if (contents.targets.empty()) continue;
    const Bytes whole = folder.write(contents);
    const Contents read = contents_of(opened(whole));
    std::vector<Bytes> slices;
    for (const packs::Target &target : read.targets) {
      const auto cut = builder::find_slice(read, {{target.key}, {}});
      REQUIRE(cut.ok());
      slices.push_back(folder.write(builder::cut_contents(read, *cut)));
    }
    CHECK(folder.merge_all(slices) == whole);
  }
}
