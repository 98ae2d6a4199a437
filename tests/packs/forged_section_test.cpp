// SPDX-License-Identifier: Apache-2.0
// Packs whose hashes agree and whose sections or blobs break a rule of FORMAT.md.
#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

// A pack with this section's bytes under `key`; the fault of using it.
Code section_fault(const std::string &key, const Bytes &bytes) {
  Forge forge;
  ForgedRoot root;
  root.targets = {forge.section(key, bytes)};
  const Bytes image = forge.finish(root);
  const PackPointer pack = opened(image);
  TargetRef by_index;
  TargetRef by_key;
  const Code fault = pack->target(0, &by_index).code;
  CHECK(pack->find_target(key, &by_key).code == fault);
  CHECK(static_cast<bool>(by_index) == (fault == Code::ok));
  CHECK(by_index == by_key);
  Contents contents;
  CHECK(read_contents(pack, &contents).code == fault);
  return fault;
}

// The fault of a section with two binaries and one blob after `spoil`.
template <typename Spoil>
Code spoiled_section(Spoil spoil) {
  ForgedSection section;
  section.blobs = {Forge().raw_blob({})};
  Digest low{};
  Digest high{};
  high[31] = 1;
  section.binaries = {fb::Binary(hash_of(low), 0, 0), fb::Binary(hash_of(high), 0, 0)};
  spoil(&section);
  return section_fault(section.key, forge(section));
}

template <typename Spoil>
Code spoiled_binary(Spoil spoil) {
  return spoiled_section([&](ForgedSection *section) {
    BlobValues values(section->blobs[0]);
    spoil(&values);
    section->blobs[0] = values;
  });
}

struct Read {
  Code code;
  std::string message;
};

// Reads a blob of these stored bytes. `raw` is what its hashes are of.
Read read(const Bytes &raw, const Bytes &stored, std::uint32_t codec, std::uint64_t raw_size) {
  Forge forge;
  ForgedRoot root;
  root.blobs = {forge.blob(raw, stored, codec, raw_size)};
  const Bytes image = forge.finish(root);
  const PackPointer pack = opened(image);
  Bytes scratch;
  View view;
  const Status status = pack->read_blob(BlobRef(pack->schema().blobs()->Get(0)), &scratch, &view);
  if (status.ok()) CHECK(Bytes(view.data, view.data + view.size) == raw);
  return {status.code, status.message};
}

Bytes joined(Bytes a, const Bytes &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("a forged section that breaks no rule can be used", "[forged]") {
  CHECK(spoiled_section([](ForgedSection *) {}) == Code::ok);
}

TEST_CASE("a section's key must have the hash that the root records", "[forged]") {
  Forge forge;
  ForgedSection section;
  section.key = "another key";
  ForgedRoot root;
  root.targets = {forge.section("the key", kiln::test::forge(section))};
  const Bytes image = forge.finish(root);
  TargetRef out;
  CHECK(opened(image)->target(0, &out).code == Code::section_malformed);
  CHECK_FALSE(out);
}

TEST_CASE("a section's binaries must rise by variant and have provenance", "[forged]") {
  CHECK(spoiled_section([](ForgedSection *s) { std::swap(s->binaries[0], s->binaries[1]); }) ==
        Code::section_malformed);
  CHECK(spoiled_section([](ForgedSection *s) { s->binaries[1] = s->binaries[0]; }) ==
        Code::section_malformed);
  CHECK(spoiled_section([](ForgedSection *s) { s->provenances = 1; }) == Code::section_malformed);
}

TEST_CASE("intermediates and cache entries are judged as binaries are", "[forged]") {
  const auto intermediates = [](ForgedSection *s) {
    s->intermediates = s->binaries;
    s->intermediate_provenances = s->binaries.size();
  };
  CHECK(spoiled_section([&](ForgedSection *s) { intermediates(s); }) == Code::ok);
  CHECK(spoiled_section([&](ForgedSection *s) {
          intermediates(s);
          std::swap(s->intermediates[0], s->intermediates[1]);
        }) == Code::section_malformed);
  CHECK(spoiled_section([&](ForgedSection *s) {
          intermediates(s);
          --s->intermediate_provenances;
        }) == Code::section_malformed);
  CHECK(spoiled_section([](ForgedSection *s) { s->cache_entries = s->binaries; }) == Code::ok);
  CHECK(spoiled_section([](ForgedSection *s) {
          s->cache_entries = {s->binaries[1], s->binaries[0]};
        }) == Code::section_malformed);
  CHECK(spoiled_section([](ForgedSection *s) {
          s->cache_entries = {fb::Binary(s->binaries[0].variant(), 9, 0)};
        }) == Code::out_of_bounds);
}

TEST_CASE("a finality that the format does not have is refused", "[forged]") {
  CHECK(spoiled_section([](ForgedSection *s) { s->finality = 2; }) == Code::ok);
  CHECK(spoiled_section([](ForgedSection *s) { s->finality = 3; }) == Code::section_malformed);
}

TEST_CASE("a binary's fields are judged", "[forged]") {
  const auto binary = [](std::uint32_t blob, std::uint32_t reserved) {
    return spoiled_section([=](ForgedSection *section) {
      section->binaries[1] = fb::Binary(section->binaries[1].variant(), blob, reserved);
    });
  };
  CHECK(binary(0, 0) == Code::ok);
  CHECK(binary(0, 1) == Code::reserved_not_zero);
  CHECK(binary(1, 0) == Code::out_of_bounds);
  CHECK(binary(0xffffffff, 0) == Code::out_of_bounds);
  CHECK(spoiled_section([](ForgedSection *s) { s->blobs.clear(); }) == Code::out_of_bounds);
}

TEST_CASE("a section's blob entries are judged as the root's are", "[forged]") {
  CHECK(spoiled_binary([](BlobValues *b) { b->base = 1; }) == Code::reserved_not_zero);
  CHECK(spoiled_binary([](BlobValues *b) { b->raw_size = 1; }) == Code::out_of_bounds);
  CHECK(spoiled_binary([](BlobValues *b) { b->offset = 65; }) == Code::out_of_bounds);
  CHECK(spoiled_binary([](BlobValues *b) { b->offset = ~std::uint64_t{63}; }) ==
        Code::out_of_bounds);
  CHECK(spoiled_binary([](BlobValues *b) { b->stored_size = kMaxBlobSize + 1; }) ==
        Code::over_limit);
  CHECK(spoiled_binary([](BlobValues *b) { b->codec = 9; }) == Code::ok);
}

TEST_CASE("a section that is no FlatBuffers buffer is malformed", "[forged]") {
  CHECK(section_fault("k", Bytes(1)) == Code::section_malformed);
  CHECK(section_fault("k", Bytes(4096, 0xff)) == Code::section_malformed);
  CHECK(section_fault("k", noise(4096, 5)) == Code::section_malformed);
  CHECK(section_fault("k", forge(ForgedRoot{})) == Code::section_malformed);
  const ForgedSection good;
  const Bytes bytes = forge(good);
  CHECK(section_fault(good.key, bytes) == Code::ok);
  for (std::size_t size = 1; size + 8 <= bytes.size(); ++size) {  // behind it may be padding
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(section_fault(good.key, cut) == Code::section_malformed);
  }
}

TEST_CASE("kernel facts that are not aligned are refused", "[forged]") {
  // Words at a multiple of 4 with a count of facts: FlatBuffers' verifier lets them pass.
  unsigned misaligned = 0;
  for (const char *pad : {"", "four"}) {
    flatbuffers::FlatBufferBuilder builder;
    const auto log = builder.CreateString(pad);
    const auto words = builder.CreateVector(std::vector<std::uint32_t>(8));  // one fact's
    const std::vector<flatbuffers::Offset<fb::Provenance>> provenance{fb::CreateProvenance(
        builder, log, flatbuffers::Offset<flatbuffers::Vector<const fb::KernelFacts *>>(words.o))};
    const auto facts = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Fact>>{});
    const auto binaries = builder.CreateVectorOfStructs(std::vector<fb::Binary>(1));
    const auto blobs = builder.CreateVectorOfStructs(std::vector<fb::Blob>{Forge().raw_blob({})});
    builder.Finish(fb::CreateSection(builder, log, log, log, log, log, facts, binaries,
                                     builder.CreateVector(provenance), blobs));
    Bytes bytes = taken(builder);
    const auto *section = flatbuffers::GetRoot<fb::Section>(bytes.data());
    const auto place =
        static_cast<std::size_t>(section->provenance()->Get(0)->kernels()->Data() - bytes.data());
    bytes[place - 4] = 1;  // the count
    misaligned += place % 8 != 0 ? 1 : 0;
    CHECK(section_fault(pad, bytes) == (place % 8 != 0 ? Code::section_malformed : Code::ok));
  }
  CHECK(misaligned == 1);
}

TEST_CASE("two keys with one hash are told apart by their text", "[forged]") {
  // XXH3 has no known pair that collides: the root is made to say that these do.
  Forge forge;
  TargetValues one(forge.section({"one", {}, {}, 0}));
  TargetValues two(forge.section({"two", {}, {}, 0}));
  two.key_hash = one.key_hash;
  ForgedRoot root;
  root.targets = {one, two};
  if (compare(one.name, two.name) > 0) std::swap(root.targets[0], root.targets[1]);
  const Bytes image = forge.finish(root);
  const PackPointer pack = opened(image);
  TargetRef section;
  // The true owner is found, or the false one is named as a fault; never the wrong section.
  const Status status = pack->find_target("one", &section);
  CHECK((status.ok() ? section.key() == "one" : !section));
  CHECK(status.code == (compare(one.name, two.name) < 0 ? Code::ok : Code::section_malformed));
}

TEST_CASE("an unknown codec is refused when the blob is read", "[forged]") {
  const Bytes raw = noise(100, 1);
  for (const std::uint32_t codec : {2u, 3u, 0x80000000u, 0xffffffffu}) {
    CHECK(read(raw, raw, codec, 100).code == Code::unknown_feature);
  }
}

TEST_CASE("a zstd blob is one whole frame of the recorded size", "[forged]") {
  const Bytes raw(5000, 'k');
  const Bytes frame = zstd_frame(raw, 3);
  const Bytes skippable = {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0};
  CHECK(read(raw, frame, 1, 5000).code == Code::ok);
  CHECK(read({}, zstd_frame({}, 3), 1, 0).code == Code::ok);
  CHECK(read(raw, frame, 1, 4999).code == Code::blob_corrupt);
  CHECK(read(raw, frame, 1, 5001).code == Code::blob_corrupt);
  CHECK(read(raw, frame, 1, 0).code == Code::blob_corrupt);
  CHECK(read(raw, raw, 1, 5000).code == Code::blob_corrupt);
  CHECK(read(raw, {}, 1, 5000).code == Code::blob_corrupt);
  CHECK(read({}, {}, 1, 0).code == Code::blob_corrupt);
  CHECK(read({}, skippable, 1, 0).code == Code::blob_corrupt);
  CHECK(read(raw, joined(frame, {0}), 1, 5000).code == Code::blob_corrupt);
  CHECK(read(raw, joined(frame, skippable), 1, 5000).code == Code::blob_corrupt);
  CHECK(read(raw, joined(frame, zstd_frame({}, 3)), 1, 5000).code == Code::blob_corrupt);
  CHECK(read(raw, joined(skippable, frame), 1, 5000).code == Code::blob_corrupt);
  for (std::size_t size = 0; size < frame.size(); ++size) {
    const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(read(raw, cut, 1, 5000).code == Code::blob_corrupt);
  }
}

TEST_CASE("a frame that does not say its size is refused", "[forged]") {
  const Bytes raw(1000, 'k');
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  Bytes frame(ZSTD_compressBound(raw.size()));
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), raw.data(), raw.size()));
  ZSTD_freeCCtx(context);
  CHECK(read(raw, frame, 1, 1000).code == Code::blob_corrupt);
}

TEST_CASE("a tiny frame that claims a gibibyte is refused before memory is taken", "[forged]") {
  // Magic, a single segment with a content size of 4 bytes, one last block of one byte run.
  const Bytes frame = {0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40, 0x0b, 0, 0, 'k'};
  const Read claim = read(Bytes(1, 'k'), frame, 1, kMaxBlobSize);
  CHECK(claim.code == Code::blob_corrupt);
  CHECK(mentions(claim.message, "too small"));
}

TEST_CASE("the most that zstd can expand is not refused", "[forged]") {
  const Bytes raw(8 << 20, 0);
  CHECK(read(raw, zstd_frame(raw, 19), 1, raw.size()).code == Code::ok);
}
