// SPDX-License-Identifier: Apache-2.0
// Which files of cached programs are taken, which are refused, and which go.
#include "runtime/cached/cached_files.hpp"

#include <filesystem>

#include <sys/stat.h>
#include <utime.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/source/whole_program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using kiln::test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

constexpr char kText[] = "kernel void k(global int *a) { a[0] = 1; }\n";

cached::DriverKey driver(std::uint64_t number) { return {"profile=test\n", 0x1234, number}; }

packs::Contents program_of(const std::string &text, const std::string &version = "1.0") {
  packs::Contents contents;
  contents.programs.resize(1);
  contents.programs[0].name = source::program_name(text, "-DX");
  contents.programs[0].variants.resize(1);
  packs::Variant &variant = contents.programs[0].variants[0];
  variant.name = "recorded-0";
  variant.options = "-DX";
  variant.source.emplace(packs::Bytes(text.begin(), text.end()));
  variant.kernels.push_back({"k", 1, ""});
  variant.hash = packs::variant_hash(text, "-DX", {"k"});
  packs::Target target;
  target.key = driver(0).key;
  target.profile = "test";
  target.identity = {{"device_name", "GPU"}, {"driver_version", version}};
  target.binaries.push_back({variant.hash, packs::BlobSource(packs::Bytes{1, 2, 3}), "log"});
  contents.targets.push_back(std::move(target));
  return contents;
}

struct Overlay {
  TemporaryFolder folder;
  std::string path = (folder.path() / "overlay").string();
  std::string name = program_of(kText).programs[0].name;

  void write(std::uint64_t number, const std::string &version = "1.0") {
    REQUIRE(cached::write_cached(path, driver(number), program_of(kText, version)).ok());
  }
  bool opens(std::uint64_t number) const {
    return cached::open_cached(path, driver(number), name).pack != nullptr;
  }
  fs::path file(std::uint64_t number) const {
    return path + "/" + cached::file_name(name, driver(number));
  }
};

}  // namespace

TEST_CASE("a cached program is opened by its own driver alone", "[cached]") {
  Overlay overlay;
  CHECK_FALSE(overlay.opens(7));
  CHECK_FALSE(cached::has_cached(overlay.path, driver(7), overlay.name));
  overlay.write(7);
  CHECK(overlay.file(7).filename() == overlay.name + "-0000000000001234-0000000000000007.kiln");
  CHECK(overlay.opens(7));
  CHECK(cached::has_cached(overlay.path, driver(7), overlay.name));
  CHECK_FALSE(cached::has_cached(overlay.path, driver(7), overlay.name, cached::kPartSuffix));
  CHECK_FALSE(overlay.opens(8));
  // A file's name proves nothing.
  fs::copy_file(overlay.file(7), overlay.file(8));
  CHECK_FALSE(overlay.opens(8));
  struct stat info {};
  REQUIRE(stat(overlay.file(7).c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("what was cached while links had the names of builds is not used", "[cached]") {
  Overlay overlay;
  for (const char *producer : {"kiln layer 2, driver ", "kiln layer, driver "}) {
    packs::Contents contents = program_of(kText);
    contents.producer = std::string(producer) + "0000000000000007";
    fs::create_directories(overlay.path);
    fs::permissions(overlay.path, fs::perms::owner_all);
    REQUIRE(packs::write_raw_pack(contents, overlay.file(7).string(), {}).ok());
    fs::permissions(overlay.file(7), fs::perms::owner_read | fs::perms::owner_write);
    CHECK(overlay.opens(7) == (producer[11] == '2'));
  }
  overlay.write(7);
  CHECK(overlay.opens(7));
}

TEST_CASE("only one program with one binary of the device is taken", "[cached]") {
  Overlay overlay;
  const auto write = [&](const packs::Contents &contents) {
    REQUIRE(cached::write_cached(overlay.path, driver(7), contents).ok());
    fs::rename(overlay.path + "/" + cached::file_name(contents.programs[0].name, driver(7)),
               overlay.file(7));
    return overlay.opens(7);
  };
  CHECK(write(program_of(kText)));
  CHECK_FALSE(write(program_of("kernel void k() {}")));  // another program's text
  packs::Contents contents = program_of(kText);
  contents.targets[0].key = "profile=other\n";
  CHECK_FALSE(write(contents));
  contents = program_of(kText);
  contents.targets[0].binaries.clear();
  CHECK_FALSE(write(contents));
  contents = program_of(kText);
  contents.programs[0].variants[0].options = "-DY";  // so that the name does not follow
  contents.programs[0].variants[0].hash = packs::variant_hash(kText, "-DY", {"k"});
  contents.targets[0].binaries[0].variant = contents.programs[0].variants[0].hash;
  CHECK_FALSE(write(contents));
  contents = program_of(kText);
  contents.programs.push_back(program_of("kernel void k() {}").programs[0]);
  CHECK_FALSE(write(contents));
}

TEST_CASE("files with other names than those of cached programs are passed over", "[cached]") {
  const Overlay overlay;
  const std::string key = driver(7).key;
  const cached::DriverKey own{key, packs::xxh3(key), 7};
  REQUIRE(cached::write_cached(overlay.path, own, program_of(kText)).ok());
  const std::string whole = cached::file_name(overlay.name, own);
  for (const std::string &name :
       {std::string("cl-x.kiln"), std::string("cl-.kiln"), std::string("cl-0123456789abcde.kiln"),
        "cl-+" + whole.substr(whole.size() - 20), "cl-" + std::string(16, 'x') + ".kiln"}) {
    fs::copy_file(overlay.path + "/" + whole, overlay.path + "/" + name);
  }
  const auto all = cached::read_all_cached(overlay.path);
  REQUIRE(all.ok());
  CHECK(all->size() == 1);
}

TEST_CASE("files of other drivers stay until there is no room", "[cached]") {
  Overlay overlay;
  overlay.write(1, "0.9");
  CHECK(cached::other_driver(overlay.path, driver(1), overlay.name).empty());
  CHECK(cached::other_driver(overlay.path, driver(7), overlay.name) == "GPU (driver 0.9)");
  const std::string mark =
      overlay.path + "/" + cached::file_name(overlay.name, driver(7), cached::kPartSuffix);
  const std::string foreign = overlay.path + "/cl-notes";
  const std::string writing = overlay.file(7).string() + ".1.tmp";
  const std::string abandoned = overlay.file(7).string() + ".2.tmp";
  for (const std::string &path : {mark, foreign, writing, abandoned}) {
    overlay.folder.write(path, "");
    const bool is_old = path == foreign || path == abandoned;
    const utimbuf old{1, 1};
    if (is_old) REQUIRE(utime(path.c_str(), &old) == 0);
  }
  overlay.write(7);
  CHECK(overlay.opens(1));
  CHECK(cached::has_cached(overlay.path, driver(7), overlay.name, cached::kPartSuffix));
  for (const std::string &path : {mark, foreign, writing}) CHECK(fs::exists(path));
  CHECK_FALSE(fs::exists(abandoned));
  const utimbuf earlier{2, 2};
  REQUIRE(utime(overlay.file(1).c_str(), &earlier) == 0);
  runtime::Folder folder;
  REQUIRE(runtime::Folder::open(overlay.path.c_str(), &folder) == 0);
  runtime::make_room(folder, fs::file_size(overlay.file(7)), 0);
  CHECK_FALSE(fs::exists(overlay.file(1)));
  CHECK(overlay.opens(7));
  CHECK(fs::exists(foreign));
}

TEST_CASE("programs are counted, and notes by their drivers", "[cached]") {
  Overlay overlay;
  auto counts = cached::count_programs(overlay.path);
  REQUIRE(counts.ok());
  CHECK(counts->cached == 0);
  CHECK(counts->all_noted() == 0);
  overlay.write(7);
  const std::string noted = overlay.path + "/noted/";
  const std::string first = cached::driver_name(driver(1));
  CHECK(first == "0000000000001234-0000000000000001");
  for (const char *name : {"a.kiln", "a.launches", "b.launches", "c.refused", "d.tmp"}) {
    overlay.folder.write(noted + first + "/" + name, "");
  }
  overlay.folder.write(noted + cached::driver_name(driver(2)) + "/a.kiln", "");
  overlay.folder.write(noted + "other/a.kiln", "");
  overlay.folder.write(noted + "jobs.sqlite", "");
  counts = cached::count_programs(overlay.path);
  REQUIRE(counts.ok());
  CHECK(counts->cached == 1);
  CHECK(counts->noted.at(first) == 2);
  CHECK(counts->noted.size() == 2);
  CHECK(counts->all_noted() == 3);
}

TEST_CASE("a folder that others may write to is not used", "[cached]") {
  Overlay overlay;
  overlay.write(7);
  REQUIRE(chmod(overlay.path.c_str(), 0777) == 0);
  CHECK_FALSE(overlay.opens(7));
  const auto status = cached::write_cached(overlay.path, driver(7), program_of(kText));
  CHECK(status.code == packs::Code::io_error);
  CHECK(status.message.find(overlay.path) == 0);
}

TEST_CASE("texts beside notes are read up to a limit", "[cached]") {
  Overlay overlay;
  runtime::Folder folder;
  REQUIRE(cached::open_folder(overlay.path, "/noted/a", &folder).ok());
  CHECK(cached::read_text(folder, "absent").empty());
  overlay.folder.write(overlay.path + "/noted/a/short", "lines");
  overlay.folder.write(overlay.path + "/noted/a/long", std::string(cached::kMaxText + 1, 'x'));
  overlay.folder.write(overlay.path + "/noted/a/most", std::string(cached::kMaxText, 'x'));
  CHECK(cached::read_text(folder, "short") == "lines");
  CHECK(cached::read_text(folder, "long").empty());
  CHECK(cached::read_text(folder, "most").size() == cached::kMaxText);
}
