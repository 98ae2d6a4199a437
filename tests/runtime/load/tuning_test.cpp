// SPDX-License-Identifier: Apache-2.0
// Which measured work-group size a device inherits, from packs built in memory.
#include "runtime/load/tuning.hpp"

#include <algorithm>

#include "tests/packs/sample.hpp"
#include "tests/support/identities.hpp"

using namespace kiln::runtime;
using namespace kiln::test;
using kiln::packs::SizeClass;
using kiln::packs::Tuning;

namespace {

Description device(const char *profile, const char *family, const char *model) {
  Description description;
  description.profile = profile;
  description.family = family;
  description.model = model;
  return description;
}

// A row of kernel blur/wide/scalar, told apart by the width of its size.
Tuning row(const Description &where, std::uint64_t key_hash, std::uint32_t width,
           std::uint32_t samples = 10, std::uint32_t spread = 5) {
  Tuning tuning;
  tuning.program = "blur";
  tuning.variant = "wide";
  tuning.kernel = "scalar";
  tuning.profile = where.profile;
  tuning.family = where.family;
  tuning.model = where.model;
  tuning.key_hash = key_hash;
  tuning.local_size = {width, 1, 1};
  tuning.samples = samples;
  tuning.spread = spread;
  return tuning;
}

Tuning default_row(std::uint32_t width) { return row(device("", "", ""), 0, width); }

struct Found {
  std::uint32_t width = 0;  // 0: none
  std::string level;
  bool operator==(const Found &) const = default;
};

std::ostream &operator<<(std::ostream &out, const Found &found) {
  return out << found.width << " by " << found.level;
}

Found find(const std::vector<Tuning> &rows, const Description &description, std::uint64_t key_hash,
           SizeClass size_class = SizeClass::small) {
  Contents contents;
  contents.tunings = rows;
  const Bytes bytes = written(contents);
  const PackPointer pack = opened(bytes);
  TuningLevel level{};
  const kiln::packs::TuningRef found =
      find_tuning(*pack, {"blur", "wide", "scalar", size_class}, description, key_hash, &level);
  if (!found) return {};
  return {found.local_size()[0], tuning_level_name(level)};
}

const Description kTigerLake = device("intel", "Gen12LP", "Intel(R) Graphics [0x9a49]");
const Description kRocketLake = device("intel", "Gen12LP", "Intel(R) Graphics [0x4c8a]");
const Description kSkylake = device("intel", "Gen9", "Intel(R) Graphics [0x1902]");
const Description kMali = device("mali", "Mali Valhall", "Mali-G710");

}  // namespace

TEST_CASE("the nearest level's tuning is taken, whatever its evidence", "[tuning]") {
  std::vector<Tuning> rows{row(kTigerLake, 1, 1, 1, 900), row(kTigerLake, 2, 2, 20),
                           row(kRocketLake, 3, 3, 30),    row(kSkylake, 4, 4, 40),
                           row(kMali, 5, 5, 50),          default_row(6)};
  const auto found = [&] { return find(rows, kTigerLake, 1); };
  const auto drop_first = [&] { rows.erase(rows.begin()); };
  CHECK(found() == Found{1, "device"});
  drop_first();
  CHECK(found() == Found{2, "model"});
  drop_first();
  CHECK(found() == Found{3, "family"});
  drop_first();
  CHECK(found() == Found{4, "vendor"});
  drop_first();
  CHECK(found() == Found{6, "default"});  // and not Mali's
  rows.pop_back();
  CHECK(found() == Found{});
}

TEST_CASE("at one level the tuning with more samples is taken, then the steadier", "[tuning]") {
  const Description other = device("intel", "Gen12LP", "Intel(R) Graphics [0x4680]");
  CHECK(find({row(kRocketLake, 3, 3, 10, 1), row(other, 4, 4, 11, 900)}, kTigerLake, 1) ==
        Found{4, "family"});
  CHECK(find({row(kRocketLake, 3, 3, 11, 900), row(other, 4, 4, 10, 1)}, kTigerLake, 1) ==
        Found{3, "family"});
  CHECK(find({row(kRocketLake, 3, 3, 10, 6), row(other, 4, 4, 10, 5)}, kTigerLake, 1) ==
        Found{4, "family"});
  // With nothing to tell them apart, the first by the pack's order: model [0x4680].
  CHECK(find({row(kRocketLake, 3, 3), row(other, 4, 4)}, kTigerLake, 1) == Found{4, "family"});
}

TEST_CASE("a driver update keeps the tuning of the model", "[tuning]") {
  const Identity before = neo_22("0x000c0000", "22.43.24595.35");
  const Identity after = neo_22("0x000c0000", "23.05.25593.11");
  const Description then = describe(before);
  const Description now = describe(after);
  const std::vector<Tuning> rows{row(then, then.key.hash(), 16)};
  CHECK(find(rows, then, then.key.hash()) == Found{16, "device"});
  CHECK(find(rows, now, now.key.hash()) == Found{16, "model"});
}

TEST_CASE("an unknown model or family is like no other", "[tuning]") {
  const Description nameless = device("adreno", "", "");
  CHECK(find({row(nameless, 2, 8)}, nameless, 1) == Found{8, "vendor"});
  CHECK(find({row(nameless, 2, 8)}, nameless, 2) == Found{8, "device"});
}

TEST_CASE("devices without a vendor's profile share nothing but their model", "[tuning]") {
  const Description one = device("generic", "", "Something");
  const Description another = device("generic", "", "Something else");
  CHECK(find({row(one, 2, 8), default_row(4)}, one, 1) == Found{8, "model"});
  CHECK(find({row(another, 2, 8), default_row(4)}, one, 1) == Found{4, "default"});
  CHECK(find({row(another, 2, 8)}, one, 1) == Found{});
}

TEST_CASE("a model's name counts within its profile alone", "[tuning]") {
  const Description elsewhere = device("generic", "Gen12LP", kTigerLake.model.c_str());
  CHECK(find({row(elsewhere, 2, 8)}, kTigerLake, 1) == Found{});
}

TEST_CASE("a row for a whole vendor serves its devices, a key hash of 0 none in particular",
          "[tuning]") {
  CHECK(find({row(device("intel", "", ""), 0, 8), default_row(4)}, kTigerLake, 1) ==
        Found{8, "vendor"});
  CHECK(find({row(device("intel", "", ""), 0, 8)}, kTigerLake, 0) == Found{8, "vendor"});
}

TEST_CASE("a tuning of another size class or kernel does not serve", "[tuning]") {
  Tuning large = row(kTigerLake, 1, 8);
  large.size_class = SizeClass::large;
  CHECK(find({large}, kTigerLake, 1, SizeClass::large) == Found{8, "device"});
  CHECK(find({large}, kTigerLake, 1, SizeClass::medium) == Found{});
  Tuning other = row(kTigerLake, 1, 8);
  other.kernel = "scalar2";
  CHECK(find({other}, kTigerLake, 1) == Found{});
}

TEST_CASE("a size that was measured of another text is not taken", "[tuning]") {
  Contents contents = sample();
  contents.tunings = {row(kTigerLake, 1, 8)};
  const auto width = [&] {
    const Bytes bytes = written(contents);
    const PackPointer pack = opened(bytes);
    TuningLevel level{};
    const auto found =
        find_tuning(*pack, {"blur", "wide", "scalar", SizeClass::small}, kTigerLake, 1, &level);
    return found ? found.local_size()[0] : 0;
  };
  CHECK(width() == 8);  // of the variant in the pack
  contents.tunings[0].variant_hash = name_of("the text before");
  CHECK(width() == 0);
}

TEST_CASE("a pack without tunings has none for any device", "[tuning]") {
  CHECK(find({}, kTigerLake, 1) == Found{});
}

TEST_CASE("a size divides a range where its groups are whole on every side", "[tuning]") {
  CHECK(divides({16, 1, 1}, {64, 1, 1}));
  CHECK(divides({16, 3, 2}, {48, 9, 2}));
  CHECK_FALSE(divides({16, 1, 1}, {100, 1, 1}));
  CHECK_FALSE(divides({16, 2, 1}, {64, 1, 1}));
  CHECK_FALSE(divides({16, 1, 4}, {64, 8, 6}));
  CHECK_FALSE(divides({64, 1, 1}, {32, 1, 1}));
  CHECK_FALSE(divides({0, 0, 0}, {64, 1, 1}));
  CHECK_FALSE(divides({16, 1, 1}, {0, 1, 1}));
}
