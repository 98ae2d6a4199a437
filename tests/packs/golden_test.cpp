// SPDX-License-Identifier: Apache-2.0
// Packs that were committed: they are read for ever, and the present writer still makes them.
// KILN_REGENERATE=1 in the environment makes those that are missing.
#include <zstd.h>

#include <cstdlib>

#include "kiln/packs/delta.hpp"
#include "tests/packs/bad_packs.hpp"
#include "tests/packs/encoding_sample.hpp"
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

// The golden file's bytes. With KILN_REGENERATE=1 a missing file is made of `bytes`.
Bytes golden_bytes(const std::string &name, const Bytes &bytes) {
  if (regenerate() && !std::filesystem::exists(golden(name))) write_file(golden(name), bytes);
  return read_file(golden(name));
}

Bytes number_text(unsigned number) { return bytes_of(std::to_string(number) + "\n"); }

Bytes good_pack() { return read_file(golden("good-v1.kiln")); }

// The good pack, signed by the key of golden/signer.pub and by another one.
Bytes signed_pack() {
  const Bytes good = good_pack();
  return with_signatures(good,
                         {signature_by(kSignerKey, good, 3), signature_by(kOtherKey, good, 7)});
}

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

Status applied(const Bytes &delta, Bytes *made) {
  const Bytes before = good_pack();
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out").string();
  write_file(folder.path() / "delta", delta);
  DeltaFacts facts;
  const Status status =
      apply_delta(*opened(before), (folder.path() / "delta").string(), path, &facts);
  *made = read_file(path);
  return status;
}

// What is wrong with a pack, in the order in which a reader finds it; the key is the signer's.
Status first_fault(const Bytes &bytes) {
  PackPointer pack;
  if (Status s = Pack::open_memory({bytes.data(), bytes.size()}, &pack); !s.ok()) {
    CHECK(pack == nullptr);
    return s;
  }
  for (const auto &[name, part] : parts_of(*pack)) {
    if (part.code != Code::ok) return Status::error(part.code, name);
  }
  const bool is_signed = (pack->superblock().compat & kSignedCompat) != 0;
  return is_signed ? trust_in(bytes, 3) : Status();
}

}  // namespace

TEST_CASE("the golden delta makes its golden pack, and today's writer makes it", "[golden]") {
  const Bytes today = delta_today();
  const Bytes golden_delta = golden_bytes("good-v1.kdelta", today);
  Bytes made;
  CHECK(applied(golden_delta, &made).ok());
  CHECK(made == read_file(golden("good-v1-final.kiln")));
  const Bytes zstd = number_text(ZSTD_versionNumber());
  if (golden_bytes("zstd-version", zstd) != zstd) {
    KILN_SKIP("another version of zstd made the golden delta's frame");
  }
  CHECK(today == golden_delta);
}

TEST_CASE("today's writer makes the golden pack of today byte for byte", "[golden]") {
  const Bytes bytes = written(sample());
  const Bytes golden = golden_bytes("good-v1-ready.kiln", bytes);
  const Bytes zstd = number_text(ZSTD_versionNumber());
  if (golden_bytes("zstd-version", zstd) != zstd) {
    KILN_SKIP("another version of zstd made the golden pack's frames");
  }
  CHECK(bytes == golden);
  CHECK(written(contents_of(opened(golden))) == golden);
}

TEST_CASE("golden packs of later fields hold what today's writer writes", "[golden]") {
  const std::pair<const char *, Contents> packs[] = {
      {"parameters", parameters_sample()},   {"statistics", statistics_sample()},
      {"local-sizes", local_sizes_sample()}, {"origins", origins_sample()},
      {"workarounds", workarounds_sample()}, {"tuned-variants", tuned_variants_sample()},
      {"known-bad", known_bad_sample()}};
  for (const auto &[name, sample] : packs) {
    CAPTURE(name);
    const Bytes bytes = written(sample);
    const auto path = ::golden("good-v1-" + std::string(name) + ".kiln");
    if (regenerate() && !std::filesystem::exists(path)) write_file(path, bytes);
    const Bytes golden = read_file(path);
    const PackPointer pack = opened(golden);
    CHECK(parts_of(*pack) == parts_of(*opened(bytes)));
    CHECK(contents_of(pack) == contents_of(opened(bytes)));
    CHECK(contents_of(pack).known_bad == sample.known_bad);
    for (const Tuning &row : sample.tunings) {
      const std::vector<Tuning> read = contents_of(pack).tunings;
      CHECK(std::find(read.begin(), read.end(), row) != read.end());
    }
    CHECK(contents_of(pack).known_bad_version == sample.known_bad_version);
    CHECK(written(contents_of(pack)) == golden);  // their binaries stay in frames
  }
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

TEST_CASE("today's writer makes the golden pack of a fleet", "[golden]") {
  WriteOptions options;
  options.purpose = Purpose::fleet;
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "fleet.kiln").string();
  REQUIRE(write_pack(alike_sample(2, 3), path, options).ok());
  const Bytes bytes = read_file(path);
  const Bytes kept = golden_bytes("good-v1-frames.kiln", bytes);
  CHECK(parts_of(*opened(kept)) == parts_of(*opened(bytes)));
  // So are the packs that earlier writers made of the same contents.
  for (const char *name : {"good-v1-fleet.kiln", "good-v1-bases.kiln", "good-v1-alike.kiln"}) {
    const Bytes earlier = read_file(golden(name));
    const PackPointer pack = opened(earlier);
    REQUIRE(write_pack(contents_of(pack), path, options).ok());
    CHECK(read_file(path) == bytes);
  }
  // On each processor the same bytes, which one version of zstd makes.
  if (read_file(golden("zstd-version")) == number_text(ZSTD_versionNumber())) {
    CHECK(bytes == kept);
  }
}

TEST_CASE("a golden pack from before there were records is read and written as it was",
          "[golden]") {
  const Bytes golden = read_file(::golden("good-v1-bare.kiln"));
  const Bytes bytes = written(bare_sample());
  const PackPointer pack = opened(golden);
  CHECK(parts_of(*pack) == parts_of(*opened(bytes)));
  CHECK(written(contents_of(pack)) == golden);
}

TEST_CASE("the cross-checks of golden packs are skipped, and not written again", "[golden]") {
  const std::pair<const char *, Contents> old[] = {{"good-v1-records.kiln", records_sample()},
                                                   {"good-v1.kiln", launch_sample()},
                                                   {"good-v1-final.kiln", sample()}};
  constexpr flatbuffers::voffset_t kCrossChecks = 12;  // the fifth field of the root
  const auto has_cross_checks = [](const Pack &pack) {
    return reinterpret_cast<const flatbuffers::Table &>(pack.schema()).CheckField(kCrossChecks);
  };
  for (const auto &[name, contents] : old) {
    CAPTURE(name);
    const Bytes golden = read_file(::golden(name));
    const PackPointer pack = opened(golden);
    CHECK(has_cross_checks(*pack));
    const Parts expected = parts_of(*opened(written(contents)));
    CHECK(parts_of(*pack) == expected);
    const Bytes again = written(contents_of(pack));
    CHECK(parts_of(*opened(again)) == expected);
    CHECK_FALSE(has_cross_checks(*opened(again)));
    CHECK(again.size() < golden.size());
  }
}

TEST_CASE("a golden pack from before there were records has none", "[golden]") {
  const Bytes golden = read_file(::golden("good-v1-bare.kiln"));
  const PackPointer pack = opened(golden);
  CHECK(pack->schema().tunings() == nullptr);
}

TEST_CASE("each bad pack and delta of the table gives its fault", "[golden]") {
  const std::vector<BadPack> table = bad_packs(golden("").string());
  CHECK(table.size() == 27);
  for (const BadPack &bad : table) {
    CAPTURE(bad.name);
    Bytes made;
    const bool is_delta = bad.name.rfind("bad-delta", 0) == 0;
    const Status status = is_delta ? applied(bad.bytes, &made) : first_fault(bad.bytes);
    CHECK(code_name(status.code) == bad.fault);
    CHECK(made.empty());
    if (bad.name == "bad-section") CHECK(status.message == "section 0");
    if (bad.name == "bad-blob") CHECK(status.message == "section 0, blob 0");
  }
}

TEST_CASE("the golden pack is signed as it was", "[golden]") {
  const Bytes expected = signed_pack();
  CHECK(golden_bytes("good-v1-signed.kiln", expected) == expected);
  CHECK(golden_bytes("signer.pub", bytes_of(kSignerPublic)) == bytes_of(kSignerPublic));
  CHECK(trust_in(expected, 3).ok());
  CHECK(parts_of(*opened(expected)) == parts_of(*opened(good_pack())));
}
