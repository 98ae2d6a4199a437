// SPDX-License-Identifier: Apache-2.0
// Tunings: written, found, merged.
#include "kiln/packs/find_rows.hpp"
#include "tests/packs/merging.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

Bytes with_tunings(const std::vector<Tuning> &tunings) {
  Contents contents;
  contents.tunings = tunings;
  return written(contents);
}

Tuning row(std::uint32_t samples, std::uint32_t spread, std::uint64_t nanoseconds) {
  Tuning tuning = kiln::test::tuning(target("A100"), SizeClass::small, {8, 4, 2});
  tuning.samples = samples;
  tuning.spread = spread;
  tuning.nanoseconds = nanoseconds;
  return tuning;
}

// What is left of two rows for one place.
Tuning kept(const Tuning &a, const Tuning &b) {
  const Bytes bytes = merged({with_tunings({a}), with_tunings({b})});
  CHECK(merged({with_tunings({b}), with_tunings({a})}) == bytes);
  const Contents contents = contents_of(opened(bytes));
  REQUIRE(contents.tunings.size() == 1);
  return contents.tunings[0];
}

}  // namespace

TEST_CASE("records read back field by field, sorted", "[records]") {
  const Contents in = sample();
  const Contents out = contents_of(opened(written(in)));
  REQUIRE(out.tunings.size() == in.tunings.size());
  for (const Tuning &tuning : in.tunings) {
    CHECK(std::count(out.tunings.begin(), out.tunings.end(), tuning) == 1);
  }
  CHECK(out.tunings[0].kernel.empty());   // the row of the whole variant comes first
  CHECK(out.tunings[1].profile.empty());  // then the default
}

TEST_CASE("the order of records does not matter to the writer", "[records]") {
  Contents contents = sample();
  std::reverse(contents.tunings.begin(), contents.tunings.end());
  CHECK(written(contents) == written(sample()));
}

TEST_CASE("a pack without records has no field for them", "[records]") {
  const Bytes bytes = written(bare_sample());
  const PackPointer pack = opened(bytes);
  CHECK(pack->schema().tunings() == nullptr);
  CHECK(find_tunings(*pack, {"blur", "wide", "scalar", SizeClass::small}, "test").count == 0);
}

TEST_CASE("records that no reader would take are not written", "[records]") {
  const auto fault = [](void (*spoil)(Contents *)) {
    Contents contents = sample();
    spoil(&contents);
    const TemporaryFolder folder;
    return write_pack(contents, (folder.path() / "out.kiln").string()).code;
  };
  CHECK(fault([](Contents *) {}) == Code::ok);
  CHECK(fault([](Contents *c) { c->tunings.push_back(c->tunings[0]); }) == Code::bad_argument);
  CHECK(fault([](Contents *c) { c->tunings[0].local_size[1] = 0; }) == Code::bad_argument);
  CHECK(fault([](Contents *c) { c->tunings[3].key_hash = 1; }) == Code::bad_argument);
}

TEST_CASE("a text that many tunings share is stored once", "[records]") {
  Contents contents;
  const auto size = [&] { return written(contents).size(); };
  const std::string conditions(1000, 'c');
  for (std::uint64_t i = 1; i <= 100; ++i) {
    contents.tunings.push_back(row(1, 0, 1));
    contents.tunings.back().key_hash = i;
    contents.tunings.back().conditions = conditions;
  }
  CHECK(size() < 1000 + 100 * 150);
}

TEST_CASE("tunings are found by kernel, size class and profile", "[records]") {
  std::vector<Tuning> rows;
  for (const char *program : {"a", "b"}) {
    for (const char *kernel : {"k", "kk"}) {
      for (const SizeClass size : {SizeClass::small, SizeClass::large}) {
        for (const char *profile : {"amd", "intel"}) {
          for (std::uint64_t key = 1; key <= 3; ++key) {
            Tuning &tuning = rows.emplace_back();
            tuning.program = program;
            tuning.variant = "v";
            tuning.kernel = kernel;
            tuning.size_class = size;
            tuning.profile = profile;
            tuning.key_hash = key;
          }
        }
      }
    }
  }
  const Bytes bytes = with_tunings(rows);
  const PackPointer pack = opened(bytes);
  const auto found = [&](const TuningQuery &query, const char *profile) {
    return find_tunings(*pack, query, profile);
  };
  for (const char *program : {"a", "b"}) {
    for (const char *kernel : {"k", "kk"}) {
      const Range range = found({program, "v", kernel, SizeClass::large}, "intel");
      REQUIRE(range.count == 3);
      for (std::uint32_t i = range.first; i < range.first + 3; ++i) {
        const fb::Tuning &row = *pack->schema().tunings()->Get(i);
        CHECK(pack->schema().texts()->Get(row.program())->str() == program);
        CHECK(pack->schema().texts()->Get(row.kernel())->str() == kernel);
        CHECK(row.size_class() == 2);
        CHECK(pack->schema().texts()->Get(row.profile())->str() == "intel");
        CHECK(row.key_hash() == i - range.first + 1);
      }
    }
  }
  CHECK(found({"a", "v", "k", SizeClass::medium}, "intel").count == 0);
  CHECK(found({"a", "v", "k", SizeClass::small}, "").count == 0);
  CHECK(found({"a", "w", "k", SizeClass::small}, "intel").count == 0);
  CHECK(found({"aa", "v", "k", SizeClass::small}, "intel").count == 0);
  CHECK(found({"", "", "", SizeClass::small}, "zzz").count == 0);
}

TEST_CASE("a text is found among the root's, or past their end", "[records]") {
  const Bytes bytes = written(sample());
  const PackPointer pack = opened(bytes);
  const auto &texts = *pack->schema().texts();
  REQUIRE(texts.size() > 5);
  for (std::uint32_t i = 0; i < texts.size(); ++i) {
    CHECK(find_text(*pack, texts.Get(i)->str()) == i);
    CHECK(find_text(*pack, texts.Get(i)->str() + "!") == texts.size());
  }
  const Bytes bare = written(bare_sample());
  CHECK(find_text(*opened(bare), "") == 0);
}

TEST_CASE("tunings of a whole variant are apart from those of its kernels", "[records]") {
  const auto with_kernel = [](const char *variant, const char *kernel) {
    Tuning tuning = row(30, 20, 10);
    tuning.variant = variant;
    tuning.kernel = kernel;
    return tuning;
  };
  const Bytes bytes = with_tunings({with_kernel("wide", ""), with_kernel("wide", "wide"),
                                    with_kernel("scalar", "scalar"), with_kernel("plain", "")});
  const PackPointer pack = opened(bytes);
  const auto count = [&](const char *variant, const char *kernel) {
    return find_tunings(*pack, {"blur", variant, kernel, SizeClass::small}, "test").count;
  };
  CHECK(count("wide", "") == 1);
  CHECK(count("wide", "wide") == 1);
  CHECK(count("plain", "") == 1);
  CHECK(count("scalar", "") == 0);
  CHECK(count("", "") == 0);
  CHECK(written(contents_of(pack)) == bytes);
}

TEST_CASE("size classes part at 65,536 and 1,048,576 work-items", "[records]") {
  CHECK(size_class(0) == SizeClass::small);
  CHECK(size_class(65'535) == SizeClass::small);
  CHECK(size_class(65'536) == SizeClass::medium);
  CHECK(size_class(1'048'575) == SizeClass::medium);
  CHECK(size_class(1'048'576) == SizeClass::large);
  CHECK(size_class(~std::uint64_t{0}) == SizeClass::large);
}

TEST_CASE("of two tunings for one place the better evidence is kept", "[records]") {
  const Tuning many = row(30, 500, 9000);
  CHECK(kept(many, row(29, 1, 10)) == many);
  const Tuning steady = row(30, 20, 9000);
  CHECK(kept(steady, row(30, 21, 10)) == steady);
  const Tuning fast = row(30, 20, 10);
  CHECK(kept(fast, row(30, 20, 11)) == fast);
  Tuning throttled = fast;
  throttled.conditions = "throttled";
  CHECK((kept(fast, throttled) == fast || kept(fast, throttled) == throttled));
}

TEST_CASE("tunings merge to one pack in any order", "[records]") {
  Tuning other = row(1, 1, 1);
  other.size_class = SizeClass::large;
  Tuning narrow = row(30, 20, 10);
  narrow.local_size = {1, 1, 1};
  check_any_order(with_tunings({row(30, 20, 10), other}), with_tunings({narrow}),
                  with_tunings({row(30, 20, 9)}));
}

namespace {

const Variant kWide = sample().programs[0].variants[1];

// A pack of the program alone, whose variant has this hash.
Bytes with_variant(const Digest &hash) {
  Contents contents;
  contents.programs = {{"blur", "", {kWide}}};
  contents.programs[0].variants[0].hash = hash;
  return written(contents);
}

Tuning measured(const Digest &hash, std::uint32_t samples = 30) {
  Tuning tuning = row(samples, 20, 10);
  tuning.variant_hash = hash;
  return tuning;
}

std::vector<Tuning> tunings_of(const Bytes &bytes) { return contents_of(opened(bytes)).tunings; }

}  // namespace

TEST_CASE("a tuning without a hash is of the text of its pack's variant", "[records]") {
  Contents contents;
  contents.programs = {{"blur", "", {kWide}}};
  contents.tunings = {measured({})};
  const Bytes bytes = written(contents);
  CHECK(opened(bytes)->schema().tuned_variants() == nullptr);
  CHECK(tunings_of(bytes) == std::vector<Tuning>{measured(kWide.hash)});
  CHECK(written(contents_of(opened(bytes))) == bytes);
  CHECK(tunings_of(with_tunings({measured({})})) == std::vector<Tuning>{measured({})});
  const Bytes apart = with_tunings({measured(kWide.hash)});
  REQUIRE(opened(apart)->schema().tuned_variants() != nullptr);
  CHECK(tunings_of(apart) == std::vector<Tuning>{measured(kWide.hash)});
}

TEST_CASE("a merge leaves out tunings of another text than the variant's", "[records]") {
  const Bytes other = with_tunings({measured(name_of("another text"))});
  const Bytes unknown = with_tunings({measured({})});
  const Bytes same = with_tunings({measured(kWide.hash)});
  const Bytes variant = with_variant(kWide.hash);
  CHECK(tunings_of(merged({other, variant})).empty());
  CHECK(tunings_of(merged({unknown, variant})).empty());
  CHECK(tunings_of(merged({same, variant})) == std::vector<Tuning>{measured(kWide.hash)});
  CHECK(kept(measured(kWide.hash, 1), measured({}, 30)) == measured(kWide.hash, 1));
  check_any_order(variant, same, unknown);
  check_any_order(other, variant, unknown);
}

TEST_CASE("only tunings of a text that the packed variants have count", "[records]") {
  Contents contents;
  contents.programs = {{"blur", "", {kWide}}};
  contents.tunings = {measured(name_of("another text"))};
  const TuningQuery query{"blur", "wide", "scalar", SizeClass::small};
  const auto counts = [&] {
    const Bytes bytes = written(contents);
    const PackPointer pack = opened(bytes);
    const Range range = find_tunings(*pack, query, "test");
    REQUIRE(range.count == 1);
    return is_of_packed_text(*pack, query, range.first);
  };
  CHECK_FALSE(counts());
  contents.tunings[0].variant_hash = kWide.hash;
  CHECK(counts());
  contents.tunings[0].variant_hash = {};
  CHECK(counts());
  contents.programs.clear();
  contents.tunings[0].variant_hash = kWide.hash;
  CHECK_FALSE(counts());  // the pack does not have the variant
}

TEST_CASE("tunings follow a variant to another name, and go with its text", "[records]") {
  Contents into;
  into.programs = {{"blur", "", {kWide}}};
  into.programs[0].variants[0].name = "renamed";
  Tuning renamed = measured(kWide.hash);
  renamed.variant = "renamed";
  CHECK(merge_tunings({measured(kWide.hash)}, &into) == 0);
  CHECK(into.tunings == std::vector<Tuning>{renamed});
  CHECK(merge_tunings(into.tunings, &into) == 0);
  CHECK(into.tunings == std::vector<Tuning>{renamed});
  // Of rows that come to one place the better one is kept.
  renamed.samples = 31;
  CHECK(merge_tunings({measured(kWide.hash), renamed}, &into) == 0);
  CHECK(into.tunings == std::vector<Tuning>{renamed});
  // Rows of other texts go, on both sides.
  into.tunings = {measured(name_of("another text"))};
  CHECK(merge_tunings({measured({})}, &into) == 2);
  CHECK(into.tunings.empty());
  // Of two variants with one text the one of the row's name keeps it.
  into.programs[0].variants.push_back(kWide);
  CHECK(merge_tunings({measured(kWide.hash)}, &into) == 0);
  CHECK(into.tunings == std::vector<Tuning>{measured(kWide.hash)});
}
