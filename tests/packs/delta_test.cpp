// SPDX-License-Identifier: Apache-2.0
// Deltas: making one and applying it is the identity, and every damage is a named fault.
#include "kiln/packs/delta.hpp"

#include <set>

#include "tests/packs/forge.hpp"
#include "tests/packs/random_packs.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

constexpr int kDeltaTrials = 60;

Bytes delta_of(const Bytes &from, const Bytes &to, DeltaFacts *facts) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out.kdelta").string();
  const Status status = make_delta(*opened(from), *opened(to), path, facts);
  INFO(status.message);
  REQUIRE(status.ok());
  return read_file(path);
}

Bytes delta_of(const Bytes &from, const Bytes &to) {
  DeltaFacts facts;
  return delta_of(from, to, &facts);
}

Status applied(const Bytes &from, const Bytes &delta, Bytes *out) {
  PackPointer pack;
  if (Status s = open(from, &pack); !s.ok()) return s;
  Storage storage;
  storage.borrow({delta.data(), delta.size()});
  out->clear();
  const DeltaSink sink = [out](View view) {
    out->insert(out->end(), view.data, view.data + view.size);
    return Status();
  };
  DeltaFacts facts;
  return apply_delta(*pack, storage, sink, &facts);
}

void check_identity(const Bytes &from, const Bytes &to) {
  const Bytes delta = delta_of(from, to);
  Bytes made;
  const Status status = applied(from, delta, &made);
  INFO(status.message);
  REQUIRE(status.ok());
  CHECK(made == to);
  CHECK(delta_of(from, to) == delta);
}

// A binary as drivers make them: neither noise nor the same again.
Bytes code(std::uint32_t seed) {
  Bytes bytes;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const Bytes word = noise(3, seed * 1000 + i % 61 * (i % 7));
    bytes.insert(bytes.end(), word.begin(), word.end());
    bytes.insert(bytes.end(), {0, 0, static_cast<std::uint8_t>(i), 0, 0x41});
  }
  return bytes;
}

// A driver's update, which changes some bytes here and there.
Bytes updated(Bytes bytes) {
  for (std::size_t i = 97; i < bytes.size(); i += 211) bytes[i] ^= 0x55;
  return bytes;
}

constexpr std::size_t kPrograms = 40;

Contents one_target(const std::string &driver, bool is_update) {
  Contents contents;
  contents.producer = "clang 15";
  for (std::uint32_t i = 0; i < kPrograms; ++i) {
    const std::string name = "program" + std::to_string(100 + i);
    contents.programs.push_back({name, "", {variant(name, "kernel void k" + name + "() {}")}});
  }
  Target target = kiln::test::target("A100");
  target.key += "driver=" + driver + "\n";
  target.compiler = driver;
  for (std::uint32_t i = 0; i < kPrograms; ++i) {
    const Bytes bytes = is_update ? updated(code(i)) : code(i);
    target.binaries.push_back(binary(contents.programs[i].variants[0], bytes));
  }
  contents.targets = {target};
  return contents;
}

Bytes written_as(const Contents &contents, Purpose purpose) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out.kiln").string();
  WriteOptions options;
  options.purpose = purpose;
  REQUIRE(write_pack(contents, path, options).ok());
  return read_file(path);
}

// The bytes that a target's own blobs take in a pack.
std::uint64_t stored_in_target(const Bytes &bytes, std::string_view driver) {
  const PackPointer pack = opened(bytes);
  for (std::size_t i = 0; i < pack->target_count(); ++i) {
    TargetRef target;
    REQUIRE(pack->target(i, &target).ok());
    if (target.schema().compiler()->string_view() != driver) continue;
    std::uint64_t size = 0;
    for (const fb::Blob *blob : *target.schema().blobs()) size += blob->stored_size();
    return size;
  }
  return 0;
}

const Bytes &old_sample() {
  static const Bytes bytes = written(launch_sample());
  return bytes;
}
const Bytes &new_sample() {
  static const Bytes bytes = written(sample());
  return bytes;
}
const Bytes &sample_delta() {
  static const Bytes bytes = delta_of(old_sample(), new_sample());
  return bytes;
}

void rehash_header(Bytes *delta) {
  const std::uint64_t hash = xxh3(delta->data(), 104);
  std::memcpy(delta->data() + 104, &hash, sizeof(hash));
}

// Of a delta with one part.
void rehash_part(Bytes *delta) {
  const std::uint64_t hash = xxh3(delta->data() + 112, delta->size() - 120);
  std::memcpy(delta->data() + delta->size() - 8, &hash, sizeof(hash));
}

void set_number(Bytes *bytes, std::size_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    (*bytes)[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

}  // namespace

TEST_CASE("a delta that is applied gives the new pack, whatever the packs", "[delta]") {
  const PackFolder packs;
  RandomPacks generator;
  Bytes before = packs.write(generator.contents());
  for (int trial = 0; trial < kDeltaTrials; ++trial) {
    CAPTURE(trial);
    const Bytes next = packs.write(generator.contents());
    check_identity(before, next);
    check_identity(next, packs.merge_all({before, next}));
    check_identity(next, next);
    before = next;
  }
}

TEST_CASE("bytes behind the new pack are a part of it, those behind the old one are not",
          "[delta]") {
  Bytes next = new_sample();
  next.insert(next.end(), {1, 2, 3});
  check_identity(old_sample(), next);
  Bytes before = old_sample();
  before.insert(before.end(), {4, 5, 6});
  Bytes made;
  REQUIRE(applied(before, sample_delta(), &made).ok());
  CHECK(made == new_sample());
}

TEST_CASE("neighbours in both packs are copied at once", "[delta]") {
  const Bytes pack = new_sample();
  DeltaFacts facts;
  const Bytes delta = delta_of(pack, pack, &facts);
  CHECK(facts.copied > pack.size() / 3);
  CHECK(delta.size() < 300);
  CHECK(facts.new_size == pack.size());
  CHECK(facts.delta_size == delta.size());
}

TEST_CASE("a delta for one new driver of one target takes little more than its own blobs",
          "[delta]") {
  constexpr std::uint64_t kSmall = 2048;  // key, identity, provenance, the table of blobs, the root
  for (const Purpose purpose : {Purpose::ready, Purpose::raw}) {
    CAPTURE(purpose);
    Contents contents = one_target("1.0", false);
    const Bytes before = written_as(contents, purpose);
    contents.targets.push_back(one_target("2.0", true).targets[0]);
    const Bytes next = written_as(contents, purpose);
    const Bytes delta = delta_of(before, next);
    const std::uint64_t own = stored_in_target(next, "2.0");
    CAPTURE(own, delta.size(), next.size());
    CHECK(delta.size() <= own * 12 / 10 + kSmall);
    // What is stored raw is coded against the old driver's binary of the same variant.
    if (purpose == Purpose::raw) CHECK(delta.size() < own / 4);
    check_identity(before, next);
  }
}

TEST_CASE("a large blob has several parts", "[.long][delta]") {
  Contents contents = bare_sample();
  const Bytes before = written(contents);
  contents.targets[0].binaries[0].blob = BlobSource(noise(17u << 20, 9));
  const Bytes next = written_as(contents, Purpose::raw);
  Bytes made;
  REQUIRE(applied(before, delta_of(before, next), &made).ok());
  CHECK(made == next);
  contents.targets[1].binaries[1].blob = BlobSource(noise(100, 10));
  const Bytes last = written_as(contents, Purpose::raw);
  const Bytes delta = delta_of(next, last);
  CHECK(delta.size() < 4096);
  REQUIRE(applied(next, delta, &made).ok());
  CHECK(made == last);
}

TEST_CASE("every truncation of a delta is named", "[delta]") {
  const Bytes &delta = sample_delta();
  for (std::size_t size = 0; size < delta.size(); ++size) {
    CAPTURE(size);
    Bytes made;
    const Status status =
        applied(old_sample(), Bytes(delta.begin(), delta.begin() + long(size)), &made);
    CHECK(status.code == (size == 0 ? Code::bad_magic : Code::truncated));
  }
}

TEST_CASE("every changed byte of a delta is named", "[delta]") {
  const std::set<Code> faults{Code::bad_magic, Code::bad_superblock, Code::section_corrupt,
                              Code::section_malformed, Code::over_limit};
  for (std::size_t at = 0; at < sample_delta().size(); ++at) {
    for (const std::uint8_t flip : {std::uint8_t{0x01}, std::uint8_t{0x80}, std::uint8_t{0xff}}) {
      CAPTURE(at, flip);
      Bytes delta = sample_delta();
      delta[at] ^= flip;
      Bytes made;
      CHECK(faults.count(applied(old_sample(), delta, &made).code) == 1);
    }
  }
}

TEST_CASE("every changed byte of the old pack is named, or none that the delta needs", "[delta]") {
  std::size_t damaged = 0;
  for (std::size_t at = 0; at < old_sample().size(); ++at) {
    CAPTURE(at);
    Bytes before = old_sample();
    before[at] ^= 0x20;
    Bytes made;
    const Status status = applied(before, sample_delta(), &made);
    if (status.ok()) {
      CHECK(made == new_sample());
    } else if (status.code == Code::blob_corrupt) {
      CHECK(status.message.find("the old pack is damaged: its bytes ") == 0);
      ++damaged;
    }
  }
  CHECK(damaged > 100);
}

TEST_CASE("a delta for another pack names both", "[delta]") {
  Bytes made;
  const Status status = applied(new_sample(), sample_delta(), &made);
  CHECK(status.code == Code::conflict);
  CHECK(status.message.find("the delta is for another pack: for ") == 0);
  CHECK(status.message.find(std::to_string(old_sample().size()) + " bytes, not for ") !=
        std::string::npos);
}

TEST_CASE("a forged delta is refused by its own fault", "[delta]") {
  struct Forged {
    std::size_t at;
    std::uint64_t value;
    std::size_t size;
    Code fault;
    const char *message;
  };
  const auto check = [](const Forged &forged, void (*rehash)(Bytes *)) {
    CAPTURE(forged.at, forged.value);
    Bytes delta = sample_delta();
    set_number(&delta, forged.at, forged.value, forged.size);
    rehash(&delta);
    Bytes made;
    const Status status = applied(old_sample(), delta, &made);
    CHECK(status.code == forged.fault);
    if (*forged.message != 0) CHECK(status.message == forged.message);
  };
  const std::uint64_t all = ~std::uint64_t{0};
  const Forged header[] = {
      {8, 2, 4, Code::newer_version, "the delta has format version 2, this reader knows version 1"},
      {12, 1, 4, Code::unknown_feature, "the delta needs features that this reader lacks: bits 1"},
      {56, all, 8, Code::over_limit, "the delta claims a new pack of over 1 TiB"},
      {56, 0, 8, Code::section_malformed, "the delta makes an empty file"},
      {64, 0, 8, Code::section_malformed,
       "the delta makes a file that does not have the BLAKE2b hash in it"},
      {96, 112, 8, Code::section_malformed, ""}};
  for (const Forged &forged : header) check(forged, rehash_header);
  std::uint32_t ranges = 0;
  std::memcpy(&ranges, sample_delta().data() + 120, 4);
  REQUIRE(ranges > 0);
  const std::size_t operations = 128 + 24 * ranges;
  const Forged part[] = {
      {112, 0xffffffff, 4, Code::over_limit,
       "the delta is damaged: a part claims more than the format allows"},
      {116, 16u << 20, 4, Code::section_malformed,
       "the delta is damaged: a part is larger than what is left"},
      {128, all - 8, 8, Code::out_of_bounds,
       "the delta takes a prefix from outside of the old pack"},
      {136, all, 8, Code::out_of_bounds, "the delta takes a prefix from outside of the old pack"},
      {144, 0, 8, Code::blob_corrupt, ""},
      {operations, all - 9, 8, Code::out_of_bounds,
       "the delta copies from outside of the old pack"},
      {operations + 8, all, 8, Code::over_limit, "the delta has an operation of over 16 MiB"},
      {operations + 8, 16u << 20, 8, Code::over_limit,
       "the delta makes more than the new pack's size"},
      {operations + 8, 1, 8, Code::section_malformed,
       "the delta has literal bytes that it does not use"},
      {operations + 16, 1, 8, Code::section_malformed, "the delta has a false literal operation"}};
  for (const Forged &forged : part) check(forged, rehash_part);
}

TEST_CASE("bytes behind a delta are refused", "[delta]") {
  Bytes delta = sample_delta();
  delta.push_back(0);
  Bytes made;
  const Status status = applied(old_sample(), delta, &made);
  CHECK(status.code == Code::section_malformed);
  CHECK(status.message == "the delta is followed by other bytes: it has " +
                              std::to_string(delta.size() - 1) + ", there are " +
                              std::to_string(delta.size()));
}

TEST_CASE("the new pack appears only when it is right", "[delta]") {
  const TemporaryFolder folder;
  const std::string delta = (folder.path() / "d.kdelta").string();
  const std::string out = (folder.path() / "new.kiln").string();
  const PackPointer pack = opened(old_sample());
  Bytes bad = sample_delta();
  bad[bad.size() - 20] ^= 1;
  write_file(delta, bad);
  DeltaFacts facts;
  Status status = apply_delta(*pack, delta, out, &facts);
  CHECK(status.message == delta + ": the delta is damaged: a part does not have its recorded hash");
  CHECK(!std::filesystem::exists(out));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  write_file(delta, sample_delta());
  CHECK(apply_delta(*pack, delta, out, &facts).ok());
  CHECK(read_file(out) == new_sample());
  CHECK(apply_delta(*pack, delta + "x", out, &facts).code == Code::not_found);
  CHECK(apply_delta(*pack, delta, out + "/x", &facts).code == Code::failed);
}
