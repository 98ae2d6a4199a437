// SPDX-License-Identifier: Apache-2.0
#include "builder/inspect/pack_sizes.hpp"

#include "tests/packs/forge.hpp"
#include "tests/packs/sample.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::BlobKind;
using builder::PackSizes;

namespace {

PackSizes sizes_of(const Bytes &bytes, std::uint64_t file_size) {
  const PackPointer pack = opened(bytes);
  const auto sizes = builder::measure_pack(*pack, contents_of(pack), file_size);
  INFO(sizes.status().message);
  REQUIRE(sizes.ok());
  return *sizes;
}

const builder::BlobSizes &kind_of(const PackSizes &sizes, BlobKind kind) {
  return sizes.kinds[static_cast<std::size_t>(kind)];
}

}  // namespace

TEST_CASE("the parts of a pack are the whole file", "[sizes]") {
  for (const Contents &contents : {Contents{}, bare_sample(), launch_sample(), sample()}) {
    const Bytes bytes = written(contents);
    const PackSizes sizes = sizes_of(bytes, bytes.size());
    CHECK(sizes.file() == bytes.size());
    CHECK(sizes.behind == 0);
    CHECK(sizes_of(bytes, bytes.size() + 7).file() == bytes.size() + 7);
    std::uint64_t sections = 0;
    for (const auto &target : sizes.targets) sections += target.section;
    CHECK(sections == sizes.sections);
  }
}

TEST_CASE("each blob counts once, for what it is", "[sizes]") {
  const Bytes bytes = written(sample());
  const PackSizes sizes = sizes_of(bytes, bytes.size());
  CHECK(kind_of(sizes, BlobKind::source).blobs == 2);  // scalar's and wide's is one
  CHECK(kind_of(sizes, BlobKind::il).blobs == 2);
  CHECK(kind_of(sizes, BlobKind::il).stored == 88);
  CHECK(kind_of(sizes, BlobKind::binary).blobs == 3);
  CHECK(kind_of(sizes, BlobKind::binary).raw == 70 + 500 + 20);
  CHECK(kind_of(sizes, BlobKind::intermediate).blobs == 1);
  CHECK(kind_of(sizes, BlobKind::cache_entries).stored == 33 + 44);
  CHECK(kind_of(sizes, BlobKind::unused).blobs == 0);
  CHECK(sizes.blobs().blobs == 10);
  CHECK(sizes.uses == 13);
  // A source, the binary that both targets have, and the one that is an intermediate, too.
  const std::uint64_t source = kind_of(sizes, BlobKind::source).stored;
  CHECK(sizes.saved > 70);
  CHECK(sizes.saved < 70 + source + kind_of(sizes, BlobKind::binary).stored);
}

TEST_CASE("what several targets or programs share is told apart", "[sizes]") {
  Contents contents = sample();
  contents.targets[0].binaries[1].blob = contents.targets[0].binaries[0].blob;
  const Bytes bytes = written(contents);
  const PackSizes sizes = sizes_of(bytes, bytes.size());
  REQUIRE(sizes.targets.size() == 2);
  for (const auto &target : sizes.targets) CHECK(target.shared.stored == 70);
  std::uint64_t own = 0;
  for (const auto &target : sizes.targets) own += target.own.stored;
  const auto binaries = static_cast<std::size_t>(BlobKind::binary);
  CHECK(own + 70 == kind_of(sizes, BlobKind::binary).stored +
                        kind_of(sizes, BlobKind::intermediate).stored +
                        kind_of(sizes, BlobKind::cache_entries).stored);
  REQUIRE(sizes.programs.size() == 2);
  for (const auto &program : sizes.programs) CHECK(program.shared.stored == 70);
  CHECK(sizes.programs[0].own[binaries].stored == 20);
  CHECK(sizes.programs[1].own[binaries].stored == 0);
}

TEST_CASE("a blob that nothing refers to counts, and overlapping blobs count once", "[sizes]") {
  Forge forge;
  ForgedRoot root;
  root.programs[0].variants[0].source = 1;
  root.blobs = {forge.raw_blob(noise(100, 1)), forge.raw_blob(noise(50, 2))};
  BlobValues within(root.blobs[0]);
  within.offset += 64;
  within.stored_size = within.raw_size = 36;
  root.blobs.push_back(within);
  const Bytes bytes = forge.finish(root);
  const PackSizes sizes = sizes_of(bytes, bytes.size());
  CHECK(sizes.file() == bytes.size());
  CHECK(kind_of(sizes, BlobKind::source).stored == 100);
  CHECK(kind_of(sizes, BlobKind::unused).blobs == 2);
  CHECK(kind_of(sizes, BlobKind::unused).stored == 50);
}

TEST_CASE("sizes as JSON have the same sums", "[sizes]") {
  const Bytes bytes = written(sample());
  const auto json = builder::sizes_json(sizes_of(bytes, bytes.size()));
  CHECK(json["schema"] == 1);
  std::uint64_t sum = 0;
  for (const char *part : {"superblock", "root", "sections", "padding", "behind"}) {
    sum += json[part].get<std::uint64_t>();
  }
  for (const auto &kind : json["kinds"]) sum += kind["stored"].get<std::uint64_t>();
  CHECK(sum == bytes.size());
  CHECK(json["file"] == bytes.size());
}
