// SPDX-License-Identifier: Apache-2.0
#include "builder/jobs/device_build.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "kiln/packs/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;

namespace {

packs::Bytes many(char kind) { return packs::Bytes(10'000, static_cast<std::uint8_t>(kind)); }

packs::Bytes bytes_of(const packs::BlobSource &blob) {
  packs::Bytes out;
  CHECK(blob.read(&out).ok());
  return out;
}

}  // namespace

TEST_CASE("blobs that are on disk have their names, sizes and bytes, also without the spill") {
  packs::Binary one{{}, packs::BlobSource(many('a')), ""};
  one.cache_entries.emplace(many('b'));
  packs::BlobSource few(packs::Bytes{1, 2, 3}), copy(few);
  {
    builder::Spill spill;
    spill.take(&one);
    spill.take(&few);
    copy = one.blob;
  }
  CHECK_FALSE(one.blob.raw());
  CHECK_FALSE(one.cache_entries->raw());
  CHECK(few.raw());
  CHECK(one.blob == packs::BlobSource(many('a')));
  CHECK(one.blob.raw_size() == 10'000);
  CHECK(bytes_of(one.blob) == many('a'));
  CHECK(bytes_of(*one.cache_entries) == many('b'));
  CHECK(bytes_of(copy) == many('a'));
}

TEST_CASE("a pack of blobs that are on disk is the pack of those in memory") {
  const test::TemporaryFolder folder;
  packs::Contents contents;
  packs::Variant variant;
  variant.name = "plain";
  variant.kernels = {{"k", 1}};
  variant.hash = packs::variant_hash("s", "", {"k"});
  variant.source.emplace(packs::Bytes{'s'});
  contents.programs = {{"blur", "", {variant}}};
  contents.targets.resize(1);
  contents.targets[0].key = "profile=generic\n";
  contents.targets[0].binaries = {{variant.hash, packs::BlobSource(many('a')), ""}};
  contents.targets[0].binaries[0].kernels.resize(1);
  const std::string in_memory = (folder.path() / "memory.kiln").string();
  const std::string on_disk = (folder.path() / "disk.kiln").string();
  CHECK(packs::write_pack(contents, in_memory).message.empty());
  builder::Spill().take(&contents.targets[0].binaries[0]);
  CHECK(packs::write_pack(contents, on_disk).message.empty());
  const auto text = [](const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  CHECK(text(in_memory) == text(on_disk));
  CHECK_FALSE(text(on_disk).empty());
}

TEST_CASE("a blob that the file no longer has whole fails with the sizes") {
  packs::BlobSource blob(many('a'));
  builder::Spill().take(&blob);
  REQUIRE_FALSE(blob.raw());
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string file = std::filesystem::read_symlink(entry.path(), error).string();
    if (file.find("/kiln-spill-") == std::string::npos) continue;
    REQUIRE(truncate(entry.path().c_str(), 5'000) == 0);
  }
  packs::Bytes out;
  const packs::Status status = blob.read(&out);
  CHECK(status.code == packs::Code::io_error);
  CHECK(status.message == "temporary file: ends after 5000 of 10000 bytes");
}

TEST_CASE("where no file can be made the bytes stay in memory") {
  const char *const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", "/nowhere", 1);
  packs::BlobSource blob(many('a'));
  builder::Spill().take(&blob);
  if (before != nullptr) {
    setenv("TMPDIR", kept.c_str(), 1);
  } else {
    unsetenv("TMPDIR");
  }
  REQUIRE(blob.raw());
  CHECK(bytes_of(blob) == many('a'));
}
