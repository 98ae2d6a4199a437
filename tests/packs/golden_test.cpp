// SPDX-License-Identifier: Apache-2.0
// Packs that were committed: they are read for ever, and today's writer still makes them.
// KILN_REGENERATE=1 in the environment writes them anew.
#include <cstdlib>

#include "kiln/packs/delta.hpp"
#include "tests/packs/encoding_sample.hpp"
#include "tests/packs/forge.hpp"
#include "tests/packs/signing_keys.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

std::filesystem::path golden(const std::string &name) {
  return std::filesystem::path(KILN_SOURCE_DIR) / "packs" / "golden" / name;
}

bool regenerate() {
  const char *value = std::getenv("KILN_REGENERATE");
  return value != nullptr && std::string(value) == "1";
}

// The golden file's bytes; with KILN_REGENERATE=1 it is first made to hold `bytes`.
Bytes golden_bytes(const std::string &name, const Bytes &bytes) {
  if (regenerate()) {
    std::filesystem::create_directories(golden("."));
    write_file(golden(name), bytes);
  }
  return read_file(golden(name));
}

Bytes number_text(unsigned number) { return bytes_of(std::to_string(number) + "\n"); }

Bytes good_pack() { return read_file(golden("good-v1.kiln")); }

using Change = void (*)(Bytes *, const Superblock &);

Bytes changed(Change change) {
  Bytes bytes = good_pack();
  const Superblock superblock = opened(bytes)->superblock();
  change(&bytes, superblock);
  return bytes;
}

void set_u32(Bytes *bytes, std::size_t offset, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) {
    (*bytes)[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  rehash_superblock(bytes);
}

struct Bad {
  const char *name;
  Code fault;   // of opening
  Change make;  // from the good pack
};

const Bad kBad[] = {
    {"bad-empty.kiln", Code::empty, [](Bytes *b, const Superblock &) { b->clear(); }},
    {"bad-truncated-superblock.kiln", Code::truncated,
     [](Bytes *b, const Superblock &) { b->resize(63); }},
    {"bad-truncated.kiln", Code::truncated, [](Bytes *b, const Superblock &) { b->pop_back(); }},
    {"bad-line-endings.kiln", Code::bad_magic,
     [](Bytes *b, const Superblock &) { b->erase(b->begin() + 4); }},
    {"bad-superblock-hash.kiln", Code::bad_superblock,
     [](Bytes *b, const Superblock &) { (*b)[8] = 2; }},
    {"bad-newer-version.kiln", Code::newer_version,
     [](Bytes *b, const Superblock &) { set_u32(b, 8, 2); }},
    {"bad-incompat.kiln", Code::unknown_feature,
     [](Bytes *b, const Superblock &) { set_u32(b, 12, 1); }},
    {"bad-reserved.kiln", Code::reserved_not_zero,
     [](Bytes *b, const Superblock &) { set_u32(b, 20, 1); }},
    {"bad-root-place.kiln", Code::out_of_bounds,
     [](Bytes *b, const Superblock &) { set_u32(b, 28, 0xffffffff); }},
    {"bad-root-size.kiln", Code::over_limit,
     [](Bytes *b, const Superblock &) { set_u32(b, 36, 0xffffffff); }},
    {"bad-root-hash.kiln", Code::root_corrupt,
     [](Bytes *b, const Superblock &s) { (*b)[s.root_offset + s.root_size - 1] ^= 1; }},
    {"bad-root-contents.kiln", Code::root_malformed,
     [](Bytes *b, const Superblock &s) {
       (*b)[s.root_offset + 3] = 0x7f;
       rehash(b, s);
     }},
};

// The good pack with one byte flipped in the first section, or in its first blob.
Bytes damaged(bool blob) {
  Bytes bytes = good_pack();
  const PackPointer pack = opened(bytes);
  TargetRef section;
  REQUIRE(pack->target(0, &section).ok());
  const std::uint64_t place = blob ? section.schema().blobs()->Get(0)->offset()
                                   : pack->schema().targets()->Get(0)->offset() + 40;
  bytes[place] ^= 1;
  return bytes;
}

// The good pack, signed by the key of golden/signer.pub and by another one.
Bytes signed_pack() {
  const Bytes good = good_pack();
  return with_signatures(good,
                         {signature_by(kSignerKey, good, 3), signature_by(kOtherKey, good, 7)});
}

struct BadSigned {
  const char *name;
  const char *message;  // of who asks for signatures with the key
  Bytes (*make)();
};

const BadSigned kBadSigned[] = {
    {"bad-signature-truncated.kiln", "signatures: the block is truncated",
     [] {
       Bytes bytes = signed_pack();
       Superblock superblock = opened(bytes)->superblock();
       bytes.pop_back();
       --superblock.pack_size;
       encode_superblock(superblock, bytes.data());
       return bytes;
     }},
    {"bad-signature-hash.kiln", "signatures: the block does not have its recorded hash",
     [] {
       Bytes bytes = signed_pack();
       bytes[block_of(bytes) + 40] ^= 1;
       return bytes;
     }},
    {"bad-signature-twice.kiln", "signatures: two are of the key 86D7ADFABB582CCD",
     [] {
       const Bytes good = good_pack();
       return with_signatures(
           good, {signature_by(kSignerKey, good, 3), signature_by(kSignerKey, good, 4)});
     }},
    {"untrusted-unsigned.kiln", "the pack is not signed", [] { return good_pack(); }},
    {"untrusted-other-key.kiln", "the pack is signed by other keys only: CE8C0BE528EE3616",
     [] {
       const Bytes good = good_pack();
       return with_signatures(good, {signature_by(kOtherKey, good, 9)});
     }},
    {"untrusted-rolled-back.kiln",
     "the pack is of revision 2, and the smallest that is demanded is 3",
     [] {
       const Bytes good = good_pack();
       return with_signatures(good, {signature_by(kSignerKey, good, 2)});
     }},
    {"untrusted-forged-root.kiln",
     "the signature of the key 86D7ADFABB582CCD does not fit: the pack is not what was signed, or "
     "another key signed it",
     [] {
       Bytes bytes = signed_pack();
       const Superblock superblock = opened(bytes)->superblock();
       const Bytes text = bytes_of("llvm-spirv 14");
       *(std::search(bytes.begin(), bytes.end(), text.begin(), text.end()) + 11) = '5';
       rehash(&bytes, superblock);
       return bytes;
     }},
};

// A delta from the golden pack of launches to that with final binaries.
Bytes delta_today() {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out").string();
  const Bytes before = good_pack();
  const Bytes after = read_file(golden("good-v1-final.kiln"));
  DeltaFacts facts;
  REQUIRE(make_delta(*opened(before), *opened(after), path, &facts).ok());
  return read_file(path);
}

Status applied_to(const std::string &pack, const std::string &delta, Bytes *made) {
  const Bytes before = read_file(golden(pack));
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out").string();
  DeltaFacts facts;
  const Status status = apply_delta(*opened(before), golden(delta).string(), path, &facts);
  *made = read_file(path);
  return status;
}

struct BadDelta {
  const char *name;
  Code fault;
  void (*make)(Bytes *delta);
};

void hash_delta_header(Bytes *delta) {
  const std::uint64_t hash = xxh3(delta->data(), 104);
  std::memcpy(delta->data() + 104, &hash, sizeof(hash));
}

const BadDelta kBadDeltas[] = {
    {"bad-delta-line-endings.kdelta", Code::bad_magic, [](Bytes *d) { d->erase(d->begin() + 4); }},
    {"bad-delta-truncated.kdelta", Code::truncated, [](Bytes *d) { d->pop_back(); }},
    {"bad-delta-header-hash.kdelta", Code::bad_superblock, [](Bytes *d) { (*d)[20] ^= 1; }},
    {"bad-delta-newer-version.kdelta", Code::newer_version,
     [](Bytes *d) {
       (*d)[8] = 2;
       hash_delta_header(d);
     }},
    {"bad-delta-claims.kdelta", Code::over_limit,
     [](Bytes *d) {
       (*d)[63] = 0x7f;
       hash_delta_header(d);
     }},
    {"bad-delta-other-pack.kdelta", Code::conflict,
     [](Bytes *d) {
       (*d)[24] ^= 1;
       hash_delta_header(d);
     }},
    {"bad-delta-part-hash.kdelta", Code::section_corrupt,
     [](Bytes *d) { (*d)[d->size() - 9] ^= 1; }},
    {"bad-delta-result.kdelta", Code::section_malformed,
     [](Bytes *d) {
       (*d)[64] ^= 1;
       hash_delta_header(d);
     }},
};

}  // namespace

TEST_CASE("the golden delta makes its golden pack, and today's writer makes it", "[golden]") {
  const Bytes today = delta_today();
  const Bytes golden_delta = golden_bytes("good-v1.kdelta", today);
  Bytes made;
  CHECK(applied_to("good-v1.kiln", "good-v1.kdelta", &made).ok());
  CHECK(made == read_file(golden("good-v1-final.kiln")));
  for (const BadDelta &bad : kBadDeltas) {
    CAPTURE(bad.name);
    Bytes expected = golden_delta;
    bad.make(&expected);
    CHECK(golden_bytes(bad.name, expected) == expected);
    CHECK(applied_to("good-v1.kiln", bad.name, &made).code == bad.fault);
    CHECK(made.empty());
  }
  const Bytes zstd = number_text(ZSTD_versionNumber());
  if (golden_bytes("zstd-version", zstd) != zstd) {
    KILN_SKIP("another version of zstd made the golden delta's frame");
  }
  CHECK(today == golden_delta);
}

TEST_CASE("today's writer makes the golden pack byte for byte", "[golden]") {
  const Bytes bytes = written(launch_sample());
  const Bytes golden = golden_bytes("good-v1.kiln", bytes);
  const Bytes zstd = number_text(ZSTD_versionNumber());
  if (golden_bytes("zstd-version", zstd) != zstd) {
    KILN_SKIP("another version of zstd made the golden pack's frames");
  }
  CHECK(bytes == golden);
}

TEST_CASE("the golden pack holds what it was made of", "[golden]") {
  const Bytes golden = good_pack();
  const Bytes bytes = written(launch_sample());
  const Parts expected = parts_of(*opened(bytes));
  // A section's blob numbers, and so the parts, do not depend on the version of zstd.
  CHECK(parts_of(*opened(golden)) == expected);
  PackPointer pack;
  REQUIRE(
      Pack::open_file((std::string(KILN_SOURCE_DIR) + "/packs/golden/good-v1.kiln").c_str(), &pack)
          .ok());
  CHECK(pack->superblock().version == 1);
  CHECK(parts_of(*pack) == expected);
}

TEST_CASE("the golden pack reads and writes back to its own bytes", "[golden]") {
  const Bytes golden = good_pack();
  CHECK(written(contents_of(opened(golden))) == golden);
}

TEST_CASE("today's writer makes the golden pack with final binaries", "[golden]") {
  const Bytes bytes = written(sample());
  const Bytes golden = golden_bytes("good-v1-final.kiln", bytes);
  CHECK(parts_of(*opened(golden)) == parts_of(*opened(bytes)));
  CHECK(written(contents_of(opened(golden))) == golden);
}

TEST_CASE("today's writer makes the golden pack with bases", "[golden]") {
  WriteOptions options;
  options.purpose = Purpose::archive;
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "bases.kiln").string();
  REQUIRE(write_pack(alike_sample(2, 3), path, options).ok());
  const Bytes bytes = read_file(path);
  const Bytes kept = golden_bytes("good-v1-bases.kiln", bytes);
  CHECK(parts_of(*opened(kept)) == parts_of(*opened(bytes)));
  // On each processor the same bytes, which one version of zstd makes.
  if (read_file(golden("zstd-version")) == number_text(ZSTD_versionNumber())) {
    CHECK(bytes == kept);
  }
}

TEST_CASE("golden packs from before a field was there are read and written as they were",
          "[golden]") {
  const std::pair<const char *, Contents> old[] = {{"good-v1-bare.kiln", bare_sample()},
                                                   {"good-v1-records.kiln", records_sample()}};
  for (const auto &[name, contents] : old) {
    CAPTURE(name);
    const Bytes golden = read_file(::golden(name));
    const Bytes bytes = written(contents);
    const PackPointer pack = opened(golden);
    CHECK(parts_of(*pack) == parts_of(*opened(bytes)));
    CHECK(written(contents_of(pack)) == golden);
  }
}

TEST_CASE("a golden pack from before there were records has none", "[golden]") {
  const Bytes golden = read_file(::golden("good-v1-bare.kiln"));
  const PackPointer pack = opened(golden);
  CHECK(pack->schema().cross_checks() == nullptr);
  CHECK(pack->schema().tunings() == nullptr);
}

TEST_CASE("each bad golden pack gives its fault", "[golden]") {
  for (const Bad &bad : kBad) {
    CAPTURE(bad.name);
    const Bytes expected = changed(bad.make);
    CHECK(golden_bytes(bad.name, expected) == expected);
    PackPointer pack;
    CHECK(Pack::open_file(golden(bad.name).c_str(), &pack).code == bad.fault);
    CHECK(pack == nullptr);
  }
}

TEST_CASE("a golden pack with a damaged section opens and names it", "[golden]") {
  const Bytes expected = damaged(false);
  CHECK(golden_bytes("bad-section.kiln", expected) == expected);
  Parts parts = parts_of(*opened(expected));
  CHECK(parts["section 0"].code == Code::section_corrupt);
  CHECK(parts["section 1"].code == Code::ok);
}

TEST_CASE("a golden pack with a damaged blob opens and names it", "[golden]") {
  const Bytes expected = damaged(true);
  CHECK(golden_bytes("bad-blob.kiln", expected) == expected);
  Parts parts = parts_of(*opened(expected));
  CHECK(parts["section 0"].code == Code::ok);
  CHECK(parts["section 0, blob 0"].code == Code::blob_corrupt);
}

TEST_CASE("the golden pack is signed as it was", "[golden]") {
  const Bytes expected = signed_pack();
  CHECK(golden_bytes("good-v1-signed.kiln", expected) == expected);
  CHECK(golden_bytes("signer.pub", bytes_of(kSignerPublic)) == bytes_of(kSignerPublic));
  CHECK(trust_in(expected, 3).ok());
  CHECK(parts_of(*opened(expected)) == parts_of(*opened(good_pack())));
}

TEST_CASE("each badly signed golden pack opens, and is not trusted", "[golden]") {
  for (const BadSigned &bad : kBadSigned) {
    CAPTURE(bad.name);
    const Bytes expected = bad.make();
    CHECK(golden_bytes(bad.name, expected) == expected);
    CHECK(trust_in(expected, 3).message == bad.message);
  }
}
