// SPDX-License-Identifier: Apache-2.0
// The writer: the same contents give the same bytes, each blob once, a file whole or not at all.
#include <fstream>
#include <random>

#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

std::size_t files_in(const std::filesystem::path &folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

const fb::Section &section_of(const Pack &pack, std::size_t index) {
  TargetRef section;
  REQUIRE(pack.target(index, &section).ok());
  return section.schema();
}

// The fault of writing `contents`; nothing may be left at the path.
Code refused(const Contents &contents) {
  const TemporaryFolder folder;
  const Status status = write_pack(contents, (folder.path() / "out.kiln").string());
  CHECK(files_in(folder.path()) == (status.ok() ? 1 : 0));
  return status.code;
}

}  // namespace

TEST_CASE("a pack that is read and written again has the same bytes", "[writer]") {
  const Bytes first = written(sample());
  const PackPointer pack = opened(first);
  CHECK(written(contents_of(pack)) == first);
}

TEST_CASE("binaries can be stored as they are, whatever form they come in", "[writer]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "raw.kiln").string();
  const Bytes bytes = written(sample());
  const PackPointer compressed = opened(bytes);
  for (const Contents &contents : {sample(), contents_of(compressed)}) {
    REQUIRE(write_pack(contents, path, {.purpose = Purpose::raw}).ok());
    std::shared_ptr<const Pack> pack;
    REQUIRE(Pack::open_file(path.c_str(), &pack).ok());
    REQUIRE(pack->target_count() == compressed->target_count());
    for (std::size_t i = 0; i < pack->target_count(); ++i) {
      const fb::Section &raw = section_of(*pack, i);
      const fb::Section &packed = section_of(*compressed, i);
      REQUIRE(raw.blobs()->size() == packed.blobs()->size());
      for (unsigned j = 0; j < raw.blobs()->size(); ++j) {
        const fb::Blob &blob = *raw.blobs()->Get(j);
        CHECK(blob.codec() == static_cast<std::uint32_t>(Codec::raw));
        CHECK(compare(blob.name(), packed.blobs()->Get(j)->name()) == 0);
        Bytes scratch;
        View view;
        CHECK(pack->read_blob(BlobRef(&blob), &scratch, &view).ok());
      }
    }
  }
}

TEST_CASE("what is written reads back field by field", "[writer]") {
  const Contents in = sample();
  const Bytes bytes = written(in);
  const Contents out = contents_of(opened(bytes));
  CHECK(out.producer == in.producer);
  REQUIRE(out.programs.size() == 2);
  CHECK(out.programs[0].reference == "blur_reference");
  const Variant &wide = out.programs[0].variants.at(1);
  CHECK(wide.name == "wide");
  CHECK(wide.hash == in.programs[0].variants[1].hash);
  CHECK(wide.options == "-cl-std=CL1.2");
  CHECK(wide.requirements == in.programs[0].variants[1].requirements);
  CHECK(wide.kernels == in.programs[0].variants[1].kernels);
  CHECK(wide.arguments == in.programs[0].variants[1].arguments);
  CHECK(wide.pixels == in.programs[0].variants[1].pixels);
  CHECK(wide.local_size == in.programs[0].variants[1].local_size);
  CHECK(wide.tolerance == 0.25);
  CHECK_FALSE(wide.il32);
  CHECK(out.programs[0].preferred == in.programs[0].preferred);
  CHECK(out.programs[0].baseline == "scalar");
  CHECK(out.programs[0].sizes == in.programs[0].sizes);
  CHECK(out.programs[1].preferred.empty());
  CHECK(out.programs[1].baseline.empty());
  CHECK(out.programs[1].sizes.empty());
  CHECK(out.programs[0].variants.at(0).il_version == 0x00010200);
  REQUIRE(out.targets.size() == 2);
  const Target &target = out.targets[0].model == "A100" ? out.targets[0] : out.targets[1];
  CHECK(target.key == in.targets[0].key);
  CHECK(target.identity == in.targets[0].identity);
  REQUIRE(target.binaries.size() == 2);
  for (const Binary &binary : target.binaries) {
    const Binary &same = binary.variant == in.targets[0].binaries[0].variant
                             ? in.targets[0].binaries[0]
                             : in.targets[0].binaries[1];
    Bytes raw;
    REQUIRE(binary.blob.read(&raw).ok());
    CHECK(raw == *same.blob.raw());
    CHECK(binary.build_log == same.build_log);
    REQUIRE(binary.kernels.size() == same.kernels.size());
    CHECK(binary.kernels[0].local_bytes == 1024);
  }
}

TEST_CASE("the order of the contents does not matter", "[writer]") {
  const Bytes expected = written(sample());
  std::mt19937 random(1);
  for (int round = 0; round < 10; ++round) {
    Contents contents = sample();
    std::shuffle(contents.programs.begin(), contents.programs.end(), random);
    std::shuffle(contents.targets.begin(), contents.targets.end(), random);
    for (Program &program : contents.programs) {
      std::shuffle(program.variants.begin(), program.variants.end(), random);
    }
    for (Target &target : contents.targets) {
      std::shuffle(target.binaries.begin(), target.binaries.end(), random);
    }
    CHECK(written(contents) == expected);
  }
}

TEST_CASE("an empty pack can be written and read", "[writer]") {
  const Bytes bytes = written({});
  const PackPointer pack = opened(bytes);
  CHECK(pack->target_count() == 0);
  CHECK_FALSE(variant_of(*pack, "a", "b"));
  TargetRef section;
  CHECK(pack->find_target("", &section).ok());
  CHECK_FALSE(section);
  CHECK(pack->target(0, &section).code == Code::bad_argument);
  CHECK(written(contents_of(pack)) == bytes);
}

TEST_CASE("a target may have thousands of binaries of which the same is said", "[writer]") {
  Contents contents;
  Target many = sample().targets[0];
  const Binary one = many.binaries[0];
  many.binaries.clear();
  for (unsigned i = 0; i < 3000; ++i) {
    Binary another = one;
    another.cache_entries.reset();
    another.variant = blake2b({reinterpret_cast<const std::uint8_t *>(&i), sizeof(i)});
    another.finish.proof = "library:libreferences.so:some_function, 64x64";
    many.binaries.push_back(std::move(another));
  }
  many.intermediates.clear();
  contents.targets = {many};
  const Contents read = contents_of(opened(written(contents)));
  REQUIRE(read.targets[0].binaries.size() == 3000);
  CHECK(read.targets[0].binaries[2999].finish.proof == many.binaries[0].finish.proof);
}

TEST_CASE("a blob that two targets and the root use is stored once", "[writer]") {
  Contents contents = sample();
  const Bytes shared = noise(70, 3);
  contents.programs[0].variants[0].il32 = BlobSource(shared);
  const Bytes bytes = written(contents);
  const PackPointer pack = opened(bytes);
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = 0; i < 2; ++i) {
    for (const fb::Blob *blob : *section_of(*pack, i).blobs()) {
      if (to_digest(blob->name()) == name_of({reinterpret_cast<const char *>(shared.data()), 70})) {
        offsets.push_back(blob->offset());
      }
    }
  }
  const VariantRef scalar = variant_of(*pack, "blur", "scalar");
  REQUIRE(scalar);
  REQUIRE(offsets.size() == 2);
  CHECK(offsets[0] == offsets[1]);
  CHECK(pack->blob(scalar.il32()).offset() == offsets[0]);
  CHECK(std::search(bytes.begin(), bytes.end(), shared.begin(), shared.end()) != bytes.end());
  // Both variants of the program have one source, and one entry for it.
  CHECK(variant_of(*pack, "blur", "wide").source() == scalar.source());
}

TEST_CASE("blobs, sections and the root lie at multiples of 64", "[writer]") {
  const Bytes bytes = written(sample());
  const PackPointer pack = opened(bytes);
  CHECK(pack->superblock().root_offset % 64 == 0);
  CHECK(pack->superblock().root_offset + pack->superblock().root_size == bytes.size());
  for (const fb::Blob *blob : *pack->schema().blobs()) CHECK(blob->offset() % 64 == 0);
  for (const fb::TargetEntry *entry : *pack->schema().targets()) CHECK(entry->offset() % 64 == 0);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const fb::Blob *blob : *section_of(*pack, i).blobs()) CHECK(blob->offset() % 64 == 0);
  }
}

TEST_CASE("a binary is kept raw, and in a fleet's pack where zstd does not make it smaller",
          "[writer]") {
  const Bytes big(4 << 20, 0);
  Contents contents;
  Target target = kiln::test::target("A");
  for (const Bytes &raw : {Bytes{}, Bytes{1}, noise(1000, 9), big}) {
    Variant variant = kiln::test::variant("v" + std::to_string(raw.size()), "");
    target.binaries.push_back(binary(variant, raw));
  }
  contents.targets = {target};
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "pack").string();
  for (const Purpose purpose : {Purpose::ready, Purpose::fleet}) {
    REQUIRE(write_pack(contents, path, {.purpose = purpose}).ok());
    const Bytes bytes = read_file(path);
    CHECK((bytes.size() < 4000) == (purpose == Purpose::fleet));
    const PackPointer pack = opened(bytes);
    for (const fb::Blob *blob : *section_of(*pack, 0).blobs()) {
      CAPTURE(purpose, blob->raw_size());
      const bool is_big = blob->raw_size() == big.size();
      const bool zstd = is_big && purpose == Purpose::fleet;
      CHECK(blob->codec() == static_cast<std::uint32_t>(zstd ? Codec::zstd : Codec::raw));
      const Part part = blob_part(*pack, *blob);
      CHECK(part.code == Code::ok);
      CHECK((!is_big || part.bytes == big));
    }
  }
}

TEST_CASE("stored bytes are copied from another pack as they are", "[writer]") {
  const Bytes raw(3000, 5);
  const Bytes frame = zstd_frame(raw, -5);
  REQUIRE(frame != zstd_frame(raw, 19));
  Forge forge;
  ForgedSection section;
  section.blobs = {forge.blob(raw, frame, 1, raw.size())};
  section.binaries = {fb::Binary(hash_of(name_of("v")), 0, 0)};
  ForgedRoot root;
  root.targets = {forge.section(section)};
  const Bytes from = forge.finish(root);
  const Bytes bytes = written(contents_of(opened(from)));
  const PackPointer pack = opened(bytes);
  Bytes scratch;
  View stored;
  REQUIRE(
      pack->stored_bytes(BlobRef(section_of(*pack, 0).blobs()->Get(0)), &scratch, &stored).ok());
  CHECK(Bytes(stored.data, stored.data + stored.size) == frame);
}

TEST_CASE("a blob of another pack is checked before it is copied", "[writer]") {
  const Bytes raw = noise(100, 1);
  for (const bool false_name : {false, true}) {
    Forge forge;
    BlobValues blob(forge.raw_blob(raw));
    if (false_name) blob.name = hash_of(name_of("another blob"));
    if (!false_name) ++blob.xxh3;
    ForgedRoot root;
    root.programs[0].variants[0].source = 1;
    root.blobs = {blob};
    const Bytes from = forge.finish(root);
    CHECK(refused(contents_of(opened(from))) == Code::blob_corrupt);
  }
}

TEST_CASE("contents that no reader would take are not written", "[writer]") {
  const auto fault = [](void (*spoil)(Contents *)) {
    Contents contents = sample();
    spoil(&contents);
    return refused(contents);
  };
  CHECK(fault([](Contents *) {}) == Code::ok);
  CHECK(fault([](Contents *c) { c->targets[1].key = c->targets[0].key; }) == Code::bad_argument);
  CHECK(fault([](Contents *c) { c->programs[1].name = "blur"; }) == Code::bad_argument);
  CHECK(fault([](Contents *c) { c->programs[1].name = ""; }) == Code::bad_argument);
  CHECK(fault([](Contents *c) { c->programs[1].name.push_back('\0'); }) == Code::bad_argument);
  CHECK(fault([](Contents *c) { c->programs[0].variants[1].name = "scalar"; }) ==
        Code::bad_argument);
  CHECK(fault([](Contents *c) { c->programs[0].variants[0].kernels.clear(); }) ==
        Code::bad_argument);
  CHECK(fault([](Contents *c) { c->programs[0].variants[0].arguments[0].role = Role{8}; }) ==
        Code::bad_argument);
  CHECK(fault([](Contents *c) {
          c->programs[0].variants[0].arguments[0].type = ElementType{11};
        }) == Code::bad_argument);
  CHECK(fault([](Contents *c) { c->programs[0].variants[0].arguments[0].stage = 1; }) ==
        Code::bad_argument);
  CHECK(fault([](Contents *c) { c->programs[0].variants[0].tolerance = -1; }) ==
        Code::bad_argument);
  CHECK(fault([](Contents *c) { c->targets[0].binaries.push_back(c->targets[0].binaries[0]); }) ==
        Code::bad_argument);
  CHECK(fault([](Contents *c) { c->targets[0].binaries[0].build_log.resize(65 << 20); }) ==
        Code::over_limit);
}

TEST_CASE("a path that cannot be written is an I/O error", "[writer]") {
  const TemporaryFolder folder;
  const auto fault = [](const std::filesystem::path &path) {
    return write_pack(sample(), path.string()).code;
  };
  CHECK(fault(folder.path()) == Code::io_error);  // a folder
  CHECK(fault(folder.path() / "absent" / "out.kiln") == Code::io_error);
  CHECK(fault("/proc/kiln-test.kiln") == Code::io_error);  // refuses even root
  CHECK(fault(folder.path() / std::string(300, 'n')) == Code::io_error);
  CHECK(fault("") == Code::io_error);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a pack replaces an older file, which stays readable to whoever has it open",
          "[writer]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out.kiln").string();
  REQUIRE(write_pack(sample(), path).ok());
  PackPointer old;
  REQUIRE(Pack::open_file(path.c_str(), &old).ok());
  const Parts before = parts_of(*old);
  REQUIRE(write_pack({}, path).ok());
  PackPointer fresh;
  REQUIRE(Pack::open_file(path.c_str(), &fresh).ok());
  CHECK(fresh->target_count() == 0);
  CHECK(parts_of(*old) == before);
  old.reset();
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a pack may be read and written over in one step", "[writer]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out.kiln").string();
  REQUIRE(write_pack(sample(), path).ok());
  const Bytes before = read_file(path);
  PackPointer pack;
  REQUIRE(Pack::open_file(path.c_str(), &pack).ok());
  REQUIRE(write_pack(contents_of(pack), path).ok());
  CHECK(read_file(path) == before);
}
