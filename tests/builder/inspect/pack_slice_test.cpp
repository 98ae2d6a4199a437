// SPDX-License-Identifier: Apache-2.0
#include "builder/inspect/pack_slice.hpp"

#include "builder/inspect/pack_json.hpp"
#include "tests/packs/merging.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::SliceRequest;

namespace {

Contents slice_of(const Contents &contents, const SliceRequest &request) {
  const auto cut = builder::find_slice(contents, request);
  INFO(cut.status().message);
  REQUIRE(cut.ok());
  return builder::cut_contents(contents, *cut);
}

std::string fault_of(const SliceRequest &request) {
  const auto cut = builder::find_slice(sample(), request);
  if (cut.ok()) return "";
  CHECK(cut.status().code == Code::not_in_pack);
  return cut.status().message;
}

// The sample, as a pack that was written and read.
Bytes sample_bytes() { return written(sample()); }

}  // namespace

TEST_CASE("a slice of a target has its binaries, and every program with source and IL", "[slice]") {
  const Contents slice = slice_of(sample(), {{"A100*"}, {}});
  REQUIRE(slice.targets.size() == 1);
  CHECK(slice.targets[0].model == "A100");
  CHECK(slice.targets[0].binaries.size() == 2);
  CHECK(slice.targets[0].intermediates.size() == 2);
  REQUIRE(slice.programs.size() == 2);
  CHECK(slice.programs[0].variants[0].source);
  CHECK(slice.programs[0].variants[0].il64);
}

TEST_CASE("a slice keeps the records that its devices use", "[slice]") {
  const Contents all = sample();
  Contents other = all;
  other.targets[1].profile = "another";
  other.tunings[2].profile = "another";
  const Contents slice = slice_of(other, {{"A100*"}, {}});
  CHECK(slice.tunings.size() == all.tunings.size() - 1);
  // Devices of one profile inherit from each other.
  CHECK(slice_of(all, {{"A100*"}, {}}).tunings == all.tunings);
}

TEST_CASE("a target is named by its key, its hash or a glob", "[slice]") {
  const Contents all = sample();
  const std::string hash = "004184c8e5543d42";
  for (const std::string &word :
       {hash, "0x" + hash, std::string("004184C8E5543D42"), all.targets[1].key,
        std::string("b200 (driver )"), std::string("B?00"), std::string("*B*")}) {
    CAPTURE(word);
    const Contents slice = slice_of(all, {{word}, {}});
    REQUIRE(slice.targets.size() == 1);
    CHECK(slice.targets[0].model == "B200");
  }
  CHECK(slice_of(all, {{"A100", "B200"}, {}}).targets.size() == 2);
  CHECK(slice_of(all, {{"FAMILY"}, {}}).targets.size() == 2);
}

TEST_CASE("a slice of a program has its binaries, and the targets that have any", "[slice]") {
  const Contents slice = slice_of(sample(), {{}, {"invert"}});
  REQUIRE(slice.programs.size() == 1);
  CHECK(slice.programs[0].name == "invert");
  REQUIRE(slice.targets.size() == 1);
  CHECK(slice.targets[0].model == "A100");
  CHECK(slice.targets[0].binaries.size() == 1);
  CHECK(slice.targets[0].cache_entries);
  CHECK(slice.tunings.empty());  // all are of the other
}

TEST_CASE("a name that a slice does not find is reported with the names that exist", "[slice]") {
  CHECK(fault_of({{"C*"}, {}}) ==
        "no target matches \"C*\"; there are:\n"
        "  a11d3fba8f6063b5  A100 (driver ), profile test, family family\n"
        "  004184c8e5543d42  B200 (driver ), profile test, family family");
  CHECK(fault_of({{"A100", "C*"}, {}}).starts_with("no target matches \"C*\""));
  CHECK(fault_of({{}, {"blr"}}) ==
        "no program blr: expected one of: blur, invert; did you mean \"blur\"?");
  CHECK(fault_of({{}, {"blur", "invert"}}).empty());
  const auto none = builder::find_slice({}, {{"*"}, {}});
  CHECK(none.status().message == "the pack has no targets");
}

TEST_CASE("slices merge to the pack that they were cut from, byte for byte", "[slice]") {
  const Bytes whole = sample_bytes();
  const PackPointer pack = opened(whole);
  const Contents all = contents_of(pack);
  const auto cut = [&](const SliceRequest &request) { return written(slice_of(all, request)); };
  const Bytes first = cut({{"A100"}, {}});
  const Bytes second = cut({{"B200"}, {}});
  CHECK(first != whole);
  CHECK(merged({first, second}) == whole);
  CHECK(merged({second, first}) == whole);
  const Bytes blur = cut({{}, {"blur"}});
  const Bytes invert = cut({{}, {"invert"}});
  CHECK(merged({invert, blur}) == whole);
  CHECK(merged({cut({{"A100"}, {"invert"}}), cut({{"A100"}, {"blur"}}),
                cut({{"B200"}, {"blur"}})}) == whole);
  CHECK(cut({{"*"}, {}}) == whole);
  CHECK(cut({{"A100"}, {}}) == first);
}

TEST_CASE("a slice copies frames as they are stored", "[slice]") {
  Contents raw = sample();
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "raw.kiln").string();
  REQUIRE(packs::write_pack(raw, path, {.purpose = packs::Purpose::raw}).ok());
  const Bytes whole = read_file(path);
  const Bytes slice = written(slice_of(contents_of(opened(whole)), {{"A100"}, {}}));
  const Contents read = contents_of(opened(slice));
  for (const packs::Binary &binary : read.targets[0].binaries) {
    CHECK(binary.blob.blob().codec() == packs::Codec::raw);
  }
}
