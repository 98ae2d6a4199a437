// SPDX-License-Identifier: Apache-2.0
// Opening a pack: from a file, a descriptor, memory; what is not a pack; what is not touched.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>

#include "kiln/packs/files.hpp"
#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

Descriptor open_for_reading(const std::string &path) {
  Descriptor file(::open(path.c_str(), O_RDONLY));
  REQUIRE(file);
  return file;
}

Code file_fault(const std::string &path) {
  PackPointer pack;
  const Status status = Pack::open_file(path.c_str(), &pack);
  CHECK((pack == nullptr) == !status.ok());
  if (!status.ok()) CHECK(mentions(status.message, path));
  return status.code;
}

// A file with `lead` bytes, the sample pack and `trail` bytes.
std::string embedded(const TemporaryFolder &folder, std::size_t lead, std::size_t trail) {
  const Bytes pack = written(sample());
  Bytes bytes = noise(lead, 1);
  bytes.insert(bytes.end(), pack.begin(), pack.end());
  bytes.resize(bytes.size() + trail, 0xee);
  write_file(folder.path() / "embedded", bytes);
  return (folder.path() / "embedded").string();
}

std::vector<std::string> names_of(const Pack &pack) {
  std::vector<std::string> names;
  for (const ProgramRef program : programs_of(pack)) {
    names.emplace_back(program.name());
    for (const VariantRef variant : program.variants()) names.emplace_back(variant.name());
  }
  return names;
}

Parts sample_parts() {
  const Bytes bytes = written(sample());
  return parts_of(*opened(bytes));
}

}  // namespace

TEST_CASE("what is not a pack is told apart", "[open]") {
  const TemporaryFolder folder;
  const auto path = [&](const char *name) { return (folder.path() / name).string(); };
  CHECK(file_fault(path("absent")) == Code::not_found);
  CHECK(file_fault(path("absent/absent")) == Code::not_found);
  CHECK(file_fault(folder.path().string()) == Code::io_error);
  write_file(path("empty"), {});
  CHECK(file_fault(path("empty")) == Code::empty);
  write_file(path("foreign"), noise(5000, 1));
  CHECK(file_fault(path("foreign")) == Code::bad_magic);
  write_file(path("short"), bytes_of("no"));
  CHECK(file_fault(path("short")) == Code::bad_magic);
  CHECK(file_fault("/dev/null") == Code::io_error);
}

TEST_CASE("a pack opens from a file, with anything behind it", "[open]") {
  const TemporaryFolder folder;
  for (const std::size_t trail : {0u, 1u, 5000u}) {
    PackPointer pack;
    REQUIRE(Pack::open_file(embedded(folder, 0, trail).c_str(), &pack).ok());
    CHECK(parts_of(*pack) == sample_parts());
  }
}

TEST_CASE("a pack opens inside of a file, aligned or not", "[open]") {
  const TemporaryFolder folder;
  const std::size_t size = written(sample()).size();
  for (const std::size_t lead : {0u, 1u, 3u, 8u, 64u, 100u, 4095u, 4096u, 4160u, 70000u}) {
    CAPTURE(lead);
    const std::string path = embedded(folder, lead, 100);
    PackPointer pack;
    {
      const Descriptor file = open_for_reading(path);
      REQUIRE(Pack::open_descriptor(file.get(), lead, size, &pack).ok());
    }
    CHECK(parts_of(*pack) == sample_parts());  // the descriptor is closed
  }
}

TEST_CASE("a range that is shorter than the pack is truncated", "[open]") {
  const TemporaryFolder folder;
  const std::size_t size = written(sample()).size();
  for (const std::size_t lead : {0u, 3u}) {
    const Descriptor file = open_for_reading(embedded(folder, lead, 0));
    PackPointer pack;
    CHECK(Pack::open_descriptor(file.get(), lead, size - 1, &pack).code == Code::truncated);
    CHECK(Pack::open_descriptor(file.get(), lead, 63, &pack).code == Code::truncated);
    CHECK(Pack::open_descriptor(file.get(), lead, 0, &pack).code == Code::empty);
    CHECK(pack == nullptr);
  }
}

TEST_CASE("a range that ends behind the file is cut, and nothing behind it is touched", "[open]") {
  const TemporaryFolder folder;
  const std::size_t size = written(sample()).size();
  for (const std::size_t lead : {0u, 3u, 64u}) {
    CAPTURE(lead);
    const Descriptor file = open_for_reading(embedded(folder, lead, 0));
    PackPointer pack;
    CHECK(Pack::open_descriptor(file.get(), lead, size + (1 << 20), &pack).ok());
    CHECK(parts_of(*pack) == sample_parts());
    pack.reset();
    CHECK(Pack::open_descriptor(file.get(), lead + 1'000'000, 4096, &pack).code == Code::empty);
  }
  write_file(folder.path() / "cut", {});
  const Descriptor empty = open_for_reading((folder.path() / "cut").string());
  PackPointer pack;
  CHECK(Pack::open_descriptor(empty.get(), 0, 1 << 20, &pack).code == Code::empty);
}

TEST_CASE("an absurd range or descriptor is refused", "[open]") {
  const TemporaryFolder folder;
  const Descriptor file = open_for_reading(embedded(folder, 0, 0));
  const std::uint64_t most = ~std::uint64_t{0};
  PackPointer pack;
  CHECK(Pack::open_descriptor(file.get(), 0, most, &pack).code == Code::over_limit);
  CHECK(Pack::open_descriptor(file.get(), most, 64, &pack).code == Code::over_limit);
  CHECK(Pack::open_descriptor(file.get(), most - 63, 128, &pack).code == Code::over_limit);
  CHECK(Pack::open_descriptor(-1, 0, 64, &pack).code == Code::io_error);
}

TEST_CASE("memory must be aligned", "[open]") {
  const Bytes bytes = written(sample());
  Bytes shifted(bytes.size() + 8);
  PackPointer pack;
  for (std::size_t shift = 1; shift < 8; ++shift) {
    std::copy(bytes.begin(), bytes.end(), shifted.begin() + static_cast<std::ptrdiff_t>(shift));
    CHECK(Pack::open_memory({shifted.data() + shift, bytes.size()}, &pack).code ==
          Code::bad_argument);
  }
  CHECK(Pack::open_memory({nullptr, 0}, &pack).code == Code::empty);
  CHECK(pack == nullptr);
  CHECK(Pack::open_memory({bytes.data(), bytes.size()}, &pack).ok());
}

TEST_CASE("closing a pack touches no memory of the caller", "[open]") {
  Bytes bytes = written(sample());
  PackPointer pack;
  REQUIRE(Pack::open_memory({bytes.data(), bytes.size()}, &pack).ok());
  TargetRef device;
  REQUIRE(pack->target(0, &device).ok());
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
  pack.reset();
  CHECK(pack == nullptr);
}

TEST_CASE("opening and finding touch no blob", "[open]") {
  Bytes bytes = written(sample());
  {
    const PackPointer pack = opened(bytes);
    const auto spoil = [&](const fb::Blob &blob) {
      for (std::uint64_t i = 0; i < blob.stored_size(); ++i) bytes[blob.offset() + i] = 0xaa;
    };
    for (const fb::Blob *blob : *pack->schema().blobs()) spoil(*blob);
    for (std::size_t i = 0; i < pack->target_count(); ++i) {
      TargetRef section;
      REQUIRE(pack->target(i, &section).ok());
      for (const fb::Blob *blob : *section.schema().blobs()) spoil(*blob);
    }
  }
  const PackPointer pack = opened(bytes);
  for (const fb::Blob *blob : *pack->schema().blobs()) {
    CHECK(blob_part(*pack, *blob).code == Code::blob_corrupt);
  }
  for (const Target &target : sample().targets) {
    TargetRef section;
    REQUIRE(pack->find_target(target.key, &section).ok());
    REQUIRE(section);
    for (const fb::Blob *blob : *section.schema().blobs()) {
      CHECK(blob_part(*pack, *blob).code == Code::blob_corrupt);
    }
  }
}

TEST_CASE("one damaged section does not hide the others", "[open]") {
  Bytes bytes = written(sample());
  const std::vector<Target> targets = sample().targets;
  const fb::TargetEntry first = *opened(bytes)->schema().targets()->Get(0);
  bytes[first.offset() + first.size() / 2] ^= 1;
  const PackPointer pack = opened(bytes);
  unsigned damaged = 0;
  for (const Target &target : targets) {
    TargetRef section;
    const Status status = pack->find_target(target.key, &section);
    if (xxh3(target.key.data(), target.key.size()) == first.key_hash()) {
      ++damaged;
      CHECK(status.code == Code::section_corrupt);
      CHECK_FALSE(section);
    } else {
      CHECK(status.ok());
      CHECK(section);
    }
  }
  CHECK(damaged == 1);
}

TEST_CASE("a section is hashed when it is first used, and not again", "[open]") {
  Bytes bytes = written(sample());
  const PackPointer pack = opened(bytes);
  const fb::TargetEntry &entry = *pack->schema().targets()->Get(0);
  TargetRef first;
  TargetRef second;
  bytes[entry.offset() + entry.size() - 1] ^= 1;
  CHECK(pack->target(0, &first).code == Code::section_corrupt);
  bytes[entry.offset() + entry.size() - 1] ^= 1;
  REQUIRE(pack->target(0, &first).ok());
  bytes[entry.offset() + entry.size() - 1] ^= 1;
  CHECK(pack->target(0, &second).ok());
  CHECK(first == second);
}

TEST_CASE("targets, variants and binaries are found, and absent ones are not", "[open]") {
  const Bytes bytes = written(sample());
  const PackPointer pack = opened(bytes);
  TargetRef section;
  CHECK(pack->find_target("no such key", &section).ok());
  CHECK_FALSE(section);
  CHECK(variant_of(*pack, "blur", "wide"));
  CHECK_FALSE(variant_of(*pack, "blur", "plain"));
  CHECK_FALSE(variant_of(*pack, "blu", "wide"));
  CHECK_FALSE(variant_of(*pack, "", ""));
  for (const Target &target : sample().targets) {
    REQUIRE(pack->find_target(target.key, &section).ok());
    for (const Binary &binary : target.binaries) {
      const BinaryRef found = section.find_binary(binary.variant);
      REQUIRE(found);
      CHECK(found.provenance.schema().build_log()->str() == binary.build_log);
      CHECK(blob_part(*pack, found.blob.schema()).bytes == *binary.blob.raw());
    }
    CHECK_FALSE(section.find_binary(name_of("other")));
  }
}

TEST_CASE("a blob is decoded again only where the memory no longer holds it", "[open]") {
  Bytes bytes = written(sample());
  const PackPointer pack = opened(bytes);
  const fb::Blob *blob = nullptr;
  for (const fb::Blob *candidate : *pack->schema().blobs()) {
    if (static_cast<Codec>(candidate->codec()) == Codec::zstd) blob = candidate;
  }
  REQUIRE(blob != nullptr);
  Bytes scratch;
  View view;
  REQUIRE(pack->read_blob(BlobRef(blob), &scratch, &view).ok());
  const Bytes raw(view.data, view.data + view.size);
  scratch[0] ^= 1;
  REQUIRE(pack->read_blob(BlobRef(blob), &scratch, &view).ok());
  CHECK(Bytes(view.data, view.data + view.size) == raw);
  bytes[static_cast<std::size_t>(blob->offset())] ^= 1;  // the frame's magic
  REQUIRE(pack->read_blob(BlobRef(blob), &scratch, &view).ok());
  CHECK(Bytes(view.data, view.data + view.size) == raw);
  Bytes other;
  CHECK(pack->read_blob(BlobRef(blob), &other, &view).code == Code::blob_corrupt);
}

// What ordinary life does to the file of an open pack.
TEST_CASE("a pack whose file changes while it is open ends nothing and forgets nothing", "[open]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "p.kiln").string();
  const Bytes bytes = written(sample());
  Contents longer = sample();
  for (int i = 0; i < 40; ++i) longer.targets.push_back(target("T" + std::to_string(i)));
  const Bytes other = written(longer);
  const auto in_place = [&](const Bytes &now) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_TRUNC));
    REQUIRE(write_all(file.get(), {now.data(), now.size()}, 0) == 0);
  };
  struct Change {
    const char *name;
    std::function<void()> make;
    std::optional<bool> readable;  // whether what was not read before can be read after it
  };
  const Change changes[] = {
      {"removed", [&] { std::filesystem::remove(path); }, true},
      {"replaced by rename",
       [&] {
         write_file(path + ".new", other);
         REQUIRE(rename_at(kWorkingFolder, (path + ".new").c_str(), path.c_str()));
       },
       true},
      {"cut", [&] { std::filesystem::resize_file(path, 100); }, false},
      {"emptied", [&] { std::filesystem::resize_file(path, 0); }, false},
      {"a longer pack written over it", [&] { in_place(other); }, {}},  // parts are the same
      {"an empty pack written over it", [&] { in_place(written(Contents{})); }, false},
      {"noise written over it", [&] { in_place(noise(bytes.size(), 7)); }, false},
  };
  for (const Change &change : changes) {
    CAPTURE(change.name);
    write_file(path, bytes);
    PackPointer before;
    PackPointer warm;
    REQUIRE(Pack::open_file(path.c_str(), &before).ok());
    REQUIRE(Pack::open_file(path.c_str(), &warm).ok());
    const Parts all = parts_of(*warm);
    change.make();
    CHECK(names_of(*before) == names_of(*warm));  // the root is in memory
    for (std::size_t i = 0; i < before->target_count(); ++i) {
      TargetRef fresh;
      const Status status = before->target(i, &fresh);
      CHECK(status.ok() == change.readable.value_or(status.ok()));
      CHECK((status.ok() || !status.message.empty()));
      TargetRef kept;
      CHECK(warm->target(i, &kept).ok());
    }
    for (const fb::Blob *blob : *before->schema().blobs()) {
      Bytes scratch;
      View view;
      const bool read = before->read_blob(BlobRef(blob), &scratch, &view).ok();
      CHECK(read == change.readable.value_or(read));
      if (read) CHECK(blake2b(view) == BlobRef(blob).name());
    }
  }
}

TEST_CASE("four threads use one pack at once", "[open]") {
  Contents contents = sample();
  for (int i = 0; i < 40; ++i) contents.targets.push_back(target("T" + std::to_string(i)));
  const Bytes bytes = written(contents);
  const Parts expected = parts_of(*opened(bytes));
  for (int round = 0; round < 20; ++round) {
    const PackPointer pack = opened(bytes);
    std::vector<Parts> seen(4);
    std::vector<std::thread> threads;
    for (auto &parts : seen) threads.emplace_back([&] { parts = parts_of(*pack); });
    for (std::thread &thread : threads) thread.join();
    for (const auto &parts : seen) CHECK(parts == expected);
  }
}

// A benchmark of the pack that KILN_TEST_PACK names.
TEST_CASE("the cost of opening a pack again", "[.open]") {
  const char *path = std::getenv("KILN_TEST_PACK");
  if (path == nullptr) KILN_SKIP("KILN_TEST_PACK names no pack");
  std::vector<double> took;
  for (int i = 0; i < 101; ++i) {
    const auto start = std::chrono::steady_clock::now();
    PackPointer pack;
    REQUIRE(Pack::open_file(path, &pack).ok());
    const std::chrono::duration<double, std::micro> spent =
        std::chrono::steady_clock::now() - start;
    took.push_back(spent.count());
  }
  std::nth_element(took.begin(), took.begin() + 50, took.end());
  std::printf("opened again in %.1f us\n", took[50]);
}
