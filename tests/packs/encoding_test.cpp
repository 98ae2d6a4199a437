// SPDX-License-Identifier: Apache-2.0
// In which form blobs are stored, and that each form gives them back.
#include <algorithm>
#include <set>

#include "kiln/packs/layout.hpp"
#include "tests/packs/encoding_sample.hpp"
#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

Bytes packed(const Contents &contents, const WriteOptions &options) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "p.kiln").string();
  const Status status = write_pack(contents, path, options);
  INFO(status.message);
  REQUIRE(status.ok());
  return read_file(path);
}

// A pack that keeps its bytes.
PackPointer lasting(Bytes bytes) {
  struct Both {
    Bytes bytes;
    PackPointer pack;
  };
  const auto both = std::make_shared<Both>();
  both->bytes = std::move(bytes);
  both->pack = opened(both->bytes);
  return {both, both->pack.get()};
}

Bytes packed_for(const Contents &contents, Purpose purpose) {
  WriteOptions options;
  options.purpose = purpose;
  return packed(contents, options);
}

std::vector<BlobRef> all_blobs(const Pack &pack) {
  Layout layout;
  REQUIRE(read_layout(pack, &layout).ok());
  std::vector<BlobRef> blobs = layout.blobs;
  for (const auto &section : layout.sections) {
    blobs.insert(blobs.end(), section.blobs.begin(), section.blobs.end());
  }
  return blobs;
}

unsigned bases_before(const Pack &pack, BlobRef blob) {
  unsigned bases = 0;
  for (; blob.base() != 0; ++bases) blob = pack.blob(blob.base());
  return bases;
}

unsigned most_bases(const Pack &pack) {
  unsigned most = 0;
  for (const BlobRef blob : all_blobs(pack)) most = std::max(most, bases_before(pack, blob));
  return most;
}

void check_all_blobs(const Pack &pack) {
  for (const BlobRef blob : all_blobs(pack)) {
    Bytes scratch;
    View raw;
    REQUIRE(pack.read_blob(blob, &scratch, &raw).ok());
    CHECK(blake2b(raw) == blob.name());
  }
}

// All that is read, but not how it is stored.
std::map<Digest, Bytes> raw_of(const Pack &pack) {
  std::map<Digest, Bytes> all;
  for (const BlobRef blob : all_blobs(pack)) {
    Bytes scratch;
    View raw;
    const Status status = pack.read_blob(blob, &scratch, &raw);
    if (status.ok()) all[blob.name()] = Bytes(raw.data, raw.data + raw.size);
  }
  return all;
}

constexpr Purpose kAll[] = {Purpose::ready, Purpose::fleet, Purpose::raw};

}  // namespace

TEST_CASE("every purpose gives the blobs back, and the same bytes each time", "[encoding]") {
  const Contents contents = alike_sample(6, 5);
  for (const Purpose purpose : kAll) {
    const Bytes bytes = packed_for(contents, purpose);
    CHECK(bytes == packed_for(contents, purpose));
    const PackPointer pack = lasting(bytes);
    check_all_blobs(*pack);
    CHECK(most_bases(*pack) <= kMaxBases);
    CHECK((pack->superblock().incompat != 0) == (most_bases(*pack) != 0));
    // What comes from a pack is stored anew in the same form.
    CHECK(bytes == packed_for(contents_of(pack), purpose));
  }
}

TEST_CASE("a recording is raw, and a pack that is made of it is compressed", "[encoding]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "raw.kiln").string();
  Contents contents = sample();
  const std::string text(4096, ' ');
  contents.programs[0].variants[0].source.emplace(Bytes(text.begin(), text.end()));
  contents.targets.clear();
  REQUIRE(write_raw_pack(contents, path).ok());
  const PackPointer raw = lasting(read_file(path));
  check_all_blobs(*raw);
  for (const BlobRef blob : all_blobs(*raw)) CHECK(blob.codec() == Codec::raw);
  const Bytes compressed = packed(contents, {});
  CHECK(compressed.size() < text.size());
  CHECK(packed(contents_of(raw), {}) == compressed);
  // What is compressed already stays so.
  REQUIRE(write_raw_pack(contents_of(lasting(compressed)), path).ok());
  CHECK(read_file(path) == compressed);
  // Nothing is lost by a blob that cannot be written.
  const PackPointer fleet = lasting(packed_for(alike_sample(6, 5), Purpose::fleet));
  CHECK(write_raw_pack(contents_of(fleet), path).code == Code::bad_argument);
  CHECK(read_file(path) == compressed);
}

TEST_CASE("a start decodes nothing but the binary itself, a fleet's pack what is like it",
          "[encoding]") {
  const Contents contents = alike_sample(6, 5);
  const Bytes ready = packed_for(contents, Purpose::ready);
  const Bytes fleet = packed_for(contents, Purpose::fleet);
  CHECK(most_bases(*lasting(ready)) == 0);
  CHECK(ready == packed(contents, {}));
  CHECK(lasting(ready)->superblock().incompat == 0);
  const PackPointer pack = lasting(fleet);
  CHECK(pack->superblock().needed == kIncompatSince);
  for (std::size_t i = 0; i < pack->target_count(); ++i) {
    TargetRef device;
    REQUIRE(pack->target(i, &device).ok());
    for (const Variant &each : contents.programs[0].variants) {
      const BlobRef blob = device.find_binary(each.hash).blob;
      REQUIRE(blob.base() != 0);
      CHECK(blob.stored_size() < 600);
      // The first one with its IL, the others with the same variant's binary for another target.
      CHECK((pack->blob(blob.base()).name() == each.il64->name()) == (i == 0));
    }
  }
  // Nothing is stored that only serves as a base, and merging keeps the frames.
  CHECK(raw_of(*pack) == raw_of(*lasting(ready)));
  const Bytes merged = packed(contents_of(pack), {});
  check_all_blobs(*lasting(merged));
  CHECK(merged.size() > fleet.size());  // root and sections are not in frames
  CHECK(packed(contents_of(lasting(merged)), {}) == merged);
  CHECK(packed_for(contents_of(lasting(merged)), Purpose::fleet) == fleet);
}

TEST_CASE("a fleet's source that resembles an earlier one is coded with that one", "[encoding]") {
  Contents contents;
  const Bytes common = noise(3000, 1);
  for (unsigned i = 0; i < 6; ++i) {
    Variant each = variant("v" + std::to_string(i), "kernel void k() {}");
    Bytes text = common;
    append(&text, noise(200, 2 + i));
    each.source = BlobSource(std::move(text));
    contents.programs.push_back({each.name, "", {each}});
  }
  const Bytes bytes = packed_for(contents, Purpose::fleet);
  CHECK(bytes.size() < 3000 + 6 * 800);
  CHECK(packed_for(contents, Purpose::ready).size() > 6 * 3000);
  const PackPointer pack = lasting(bytes);
  check_all_blobs(*pack);
  CHECK(most_bases(*pack) <= 2);
  // Merging keeps the frames, and slicing codes anew what loses its base.
  CHECK(packed_for(contents_of(lasting(packed(contents_of(pack), {}))), Purpose::fleet) == bytes);
  Contents cut = contents_of(pack);
  cut.programs.erase(cut.programs.begin());
  const PackPointer slice = lasting(packed(cut, {}));
  check_all_blobs(*slice);
  CHECK(all_blobs(*slice).size() == 5);
}

TEST_CASE("a binary is coded with one of another program only if that saves a quarter",
          "[encoding]") {
  Contents contents;
  Target device = target("model");
  const Bytes common = noise(3000, 1);
  for (unsigned i = 0; i < 3; ++i) {
    Variant each = variant("v" + std::to_string(i), "kernel void k" + std::to_string(i) + "() {}");
    Bytes bytes = i < 2 ? common : part(common, 0, 500);  // the third one shares a sixth
    append(&bytes, noise(i < 2 ? 100 : 2500, 2 + i));
    device.binaries.push_back(binary(each, std::move(bytes)));
    contents.programs.push_back({each.name, "", {each}});
  }
  contents.targets = {device};
  const PackPointer pack = lasting(packed_for(contents, Purpose::fleet));
  check_all_blobs(*pack);
  TargetRef packed_device;
  REQUIRE(pack->target(0, &packed_device).ok());
  const auto has_base = [&](unsigned i) {
    return packed_device.find_binary(contents.programs[i].variants[0].hash).blob.base() != 0;
  };
  CHECK(has_base(0) != has_base(1));  // sorted by the variants' hashes
  CHECK(!has_base(2));
}

TEST_CASE("a blob that begins like a dictionary of zstd is no base", "[encoding]") {
  Contents contents = alike_sample(1, 3);
  for (Target &each : contents.targets) {
    Bytes bytes{0x37, 0xa4, 0x30, 0xec};
    append(&bytes, *each.binaries[0].blob.raw());
    each.binaries[0].blob = BlobSource(std::move(bytes));
  }
  const PackPointer pack = lasting(packed_for(contents, Purpose::fleet));
  check_all_blobs(*pack);
  CHECK(most_bases(*pack) == 1);  // the IL
}

TEST_CASE("what loses its base when a pack is cut or merged is coded anew", "[encoding]") {
  const std::string golden = std::string(KILN_SOURCE_DIR) + "/packs/golden/good-v1-bases.kiln";
  for (const Bytes &bytes : {read_file(golden), packed_for(alike_sample(4, 3), Purpose::fleet)}) {
    const PackPointer deep = lasting(bytes);
    CHECK(most_bases(*deep) >= 2);
    Contents cut = contents_of(deep);
    cut.targets.erase(cut.targets.begin(), cut.targets.end() - 2);
    cut.programs[0].variants.pop_back();
    const PackPointer slice = lasting(packed(cut, {}));
    check_all_blobs(*slice);
    // Nothing of what was cut out is kept as a base.
    CHECK(raw_of(*slice) == raw_of(*lasting(packed_for(cut, Purpose::ready))));
  }
}

TEST_CASE("a pack with bases cut anywhere or with any byte changed gives no wrong bytes",
          "[encoding]") {
  const Bytes good = packed_for(alike_sample(2, 2), Purpose::fleet);
  const std::vector<Variant> variants = alike_sample(2, 0).programs[0].variants;
  const std::map<Digest, Bytes> right = raw_of(*lasting(good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= static_cast<std::uint8_t>(1 + i % 255);
    PackPointer pack;
    const Status status = Pack::open_memory({bad.data(), bad.size()}, &pack);
    if (!status.ok()) continue;
    for (std::size_t t = 0; t < pack->target_count(); ++t) {
      TargetRef device;
      if (!pack->target(t, &device).ok()) continue;
      for (const Variant &each : variants) {
        const BlobRef blob = device.find_binary(each.hash).blob;
        Bytes scratch;
        View raw;
        if (!pack->read_blob(blob, &scratch, &raw).ok()) continue;
        if (right.at(blob.name()) != Bytes(raw.data, raw.data + raw.size)) {
          FAIL("byte " << i << " changed what is read");
        }
      }
    }
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Bytes cut = part(good, 0, size);
    PackPointer pack;
    if (Pack::open_memory({cut.data(), cut.size()}, &pack).ok()) FAIL("cut to " << size);
  }
}

namespace {

// A pack whose root has these blobs: the first raw, each other coded with that of its number.
// Reading the last one gives `code`; its message is told.
std::string chain_fault(const std::vector<std::uint32_t> &bases, Code code,
                        std::uint32_t incompat = kIncompatBases) {
  Forge forge;
  forge.incompat = incompat;
  ForgedRoot root;
  const Bytes raw = noise(500, 1);
  root.blobs = {forge.raw_blob(raw)};
  for (const std::uint32_t base : bases) {
    Bytes more = raw;
    more.push_back(static_cast<std::uint8_t>(root.blobs.size()));
    BlobValues values(forge.blob(more, zstd_frame(more, 3), 2, more.size()));
    values.base = base;
    root.blobs.push_back(values);
  }
  const Bytes image = forge.finish(root);
  PackPointer pack;
  Status status = open(image, &pack);
  Bytes scratch;
  View view;
  if (status.ok()) {
    const BlobRef last = pack->blob(static_cast<std::uint32_t>(root.blobs.size()));
    status = pack->read_blob(last, &scratch, &view);
  }
  CHECK(status.code == code);
  return status.message;
}

}  // namespace

TEST_CASE("bases are there, stand before what is coded with them, and are few", "[encoding]") {
  CHECK(chain_fault({1}, Code::ok).empty());
  CHECK(chain_fault({1, 2, 3, 4}, Code::ok).empty());
  CHECK(chain_fault({1, 2, 3, 4, 5}, Code::blob_corrupt) ==
        "the blob's base: the blob's base: the blob's base: the blob's base: blob: "
        "more than 4 bases would have to be decoded first");
  const std::string missing = "blob: its base is missing or stands behind it";
  CHECK(chain_fault({0}, Code::out_of_bounds) == missing);
  CHECK(chain_fault({2}, Code::out_of_bounds) == missing);           // itself
  CHECK(chain_fault({3, 2}, Code::out_of_bounds) == missing);        // a ring
  CHECK(chain_fault({0xffffffff}, Code::out_of_bounds) == missing);  // nowhere
  CHECK(chain_fault({1}, Code::reserved_not_zero, 0) == "blob: reserved field base is not zero");
  CHECK(chain_fault({0}, Code::unknown_feature, 0) == "blob has the unknown codec 2");
}

namespace {

// A pack of one target whose section and root have been through `section` and `root`.
Bytes framed(const std::function<Bytes(Bytes)> &root, const std::function<Bytes(Bytes)> &section,
             std::uint32_t incompat = kIncompatFrames) {
  Forge forge;
  forge.incompat = incompat;
  ForgedSection device;
  device.key = "key";
  ForgedRoot all;
  all.targets = {forge.section(device.key, section(kiln::test::forge(device)))};
  return forge.finish(root(kiln::test::forge(all)));
}

// The first fault of the pack and its target, from memory and from a file.
Status framed_fault(const Bytes &image) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "pack.kiln").string();
  write_file(path, image);
  Status statuses[2];
  for (const bool from_file : {false, true}) {
    PackPointer pack;
    Status &status = statuses[from_file ? 1 : 0];
    status = from_file ? Pack::open_file(path.c_str(), &pack) : open(image, &pack);
    TargetRef device;
    if (status.ok()) status = pack->find_target("key", &device);
    if (status.ok()) CHECK(device.key() == "key");
  }
  CHECK(statuses[0].code == statuses[1].code);
  return statuses[0];
}

Bytes plain(Bytes bytes) { return bytes; }
Bytes frame(Bytes bytes) { return zstd_frame(bytes, 3); }

Bytes cut_frame(Bytes bytes) {
  bytes = frame(std::move(bytes));
  bytes.pop_back();
  return bytes;
}
Bytes changed_frame(Bytes bytes) {
  bytes = frame(std::move(bytes));
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end(), 0xff);
  return bytes;
}
Bytes two_frames(Bytes bytes) {
  Bytes frames = frame(std::move(bytes));
  append(&frames, frame({}));
  return frames;
}
// Sound but for the zeros behind it, which make it over 64 times as large as its frame.
Bytes frame_with_zeros(Bytes bytes) {
  bytes.resize(1 << 20);
  return frame(std::move(bytes));
}
Bytes frame_without_size(const Bytes &bytes) {
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  Bytes out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size()));
  ZSTD_freeCCtx(context);
  return out;
}

}  // namespace

TEST_CASE("root and sections in frames are read, and bad frames refused", "[encoding]") {
  for (const auto &root : {plain, frame}) {
    for (const auto &section : {plain, frame}) CHECK(framed_fault(framed(root, section)).ok());
  }
  CHECK(framed_fault(framed(plain, plain, 0)).ok());
  CHECK(framed_fault(framed(frame, plain, 0)).code == Code::root_malformed);
  CHECK(framed_fault(framed(plain, frame, 0)).code == Code::section_malformed);
  for (const auto &bad : {std::function<Bytes(Bytes)>(cut_frame),
                          {changed_frame},
                          {two_frames},
                          {frame_with_zeros},
                          {frame_without_size}}) {
    CHECK(framed_fault(framed(bad, frame)).code == Code::root_malformed);
    CHECK(framed_fault(framed(frame, bad)).code == Code::section_malformed);
  }
}

TEST_CASE("a section that is too large for its frame is stored without one", "[encoding]") {
  Contents contents = alike_sample(1, 1);
  contents.targets[0].binaries[0].build_log.assign(1 << 20, 'x');
  const Bytes bytes = packed_for(contents, Purpose::fleet);
  CHECK(bytes.size() > 1 << 20);
  CHECK(contents_of(lasting(bytes)).targets[0].binaries[0].build_log.size() == 1 << 20);
}

TEST_CASE("a feature that this reader lacks is named with the version that has it", "[encoding]") {
  Superblock superblock;
  superblock.incompat = 0x40;
  superblock.needed = 1'230'405;
  superblock.root_offset = 64;
  superblock.root_size = 1;
  superblock.pack_size = 65;
  std::uint8_t bytes[kSuperblockSize];
  encode_superblock(superblock, bytes);
  Superblock out;
  const Status status = decode_superblock(bytes, 65, &out);
  CHECK(status.code == Code::unknown_feature);
  CHECK(status.message ==
        "pack needs features that this reader lacks: bits 64; Kiln 123.4 reads it");
}
