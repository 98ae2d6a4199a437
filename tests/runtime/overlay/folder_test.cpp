// SPDX-License-Identifier: Apache-2.0
// The overlay's folder: names, ages, sizes, and what is left alone.
#include "runtime/overlay/private_folder.hpp"

#include "runtime/overlay/overlay.hpp"
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;
using runtime::Folder;
using runtime::is_name;
using runtime::UsedFile;
namespace fs = std::filesystem;

namespace {

const std::string kNumber = "0123456789abcdef";

void set_age(const fs::path &path, int seconds) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
}

}  // namespace

TEST_CASE("a name is a prefix and numbers of 16 digits, joined by -", "[folder]") {
  CHECK(is_name("e-" + kNumber, "e-", 1));
  CHECK(is_name("e-" + kNumber + "-" + kNumber, "e-", 2));
  CHECK(is_name(kNumber, "", 1));
  CHECK_FALSE(is_name("e-" + kNumber, "e-", 2));
  CHECK_FALSE(is_name("e-" + kNumber + "-" + kNumber, "e-", 1));
  CHECK_FALSE(is_name("l-" + kNumber, "e-", 1));
  CHECK_FALSE(is_name("e-" + kNumber + "0" + kNumber, "e-", 2));
  CHECK_FALSE(is_name("e-" + kNumber + "0", "e-", 1));
  CHECK_FALSE(is_name("e-" + kNumber.substr(1), "e-", 1));
  for (const char c : std::string("/:`gAF -")) {
    for (const std::size_t at : {2u, 9u, 17u}) {
      std::string name = "e-" + kNumber;
      name[at] = c;
      CAPTURE(name);
      CHECK_FALSE(is_name(name, "e-", 1));
    }
  }
}

TEST_CASE("the file that was used least recently goes first, and of two the first by name",
          "[folder]") {
  const TemporaryFolder temporary;
  Folder folder;
  REQUIRE(Folder::open(temporary.path().string().c_str(), &folder) == 0);
  for (const char *name : {"a", "b", "c", "d"}) temporary.write(name, "x");
  std::vector<UsedFile> files = {{"d", 2, 10}, {"c", 1, 20}, {"none", 3, 40},
                                 {"a", 2, 30}, {"b", 1, 40}, {"e", 4, 50}};
  const std::vector<std::pair<std::string, std::uint64_t>> order = {{"b", 40}, {"c", 20}, {"a", 30},
                                                                    {"d", 10}, {"", 0},   {"", 0}};
  runtime::sort_by_use(&files);
  for (const auto &[name, size] : order) {
    CAPTURE(name);
    CHECK(runtime::remove_oldest(folder, &files) == size);
    if (!name.empty()) CHECK_FALSE(fs::exists(temporary.path() / name));
  }
  CHECK(files.empty());
  CHECK(fs::is_empty(temporary.path()));
}

TEST_CASE("a file of just the limit is read", "[folder]") {
  const TemporaryFolder temporary;
  temporary.write("file", "12345");
  fs::permissions(temporary.path() / "file", fs::perms::owner_read | fs::perms::owner_write);
  Folder folder;
  REQUIRE(Folder::open(temporary.path().string().c_str(), &folder) == 0);
  packs::Bytes bytes;
  struct stat info {};
  runtime::Descriptor file;
  CHECK(folder.read_file("file", 5, &bytes, &info, &file) == 0);
  CHECK(bytes == bytes_of("12345"));
  CHECK(folder.read_file("file", 4, &bytes, &info, &file) == EFBIG);
  CHECK(folder.read_file("none", 5, &bytes, &info, &file) == ENOENT);
  CHECK(folder.read_file(".", 5, &bytes, &info, &file) == EISDIR);
}

TEST_CASE("a use is written down after a day, and where the file is of the future", "[folder]") {
  const TemporaryFolder temporary;
  const fs::path path = temporary.write("file", "");
  const auto is_written = [&](int age) {
    set_age(path, age);
    struct stat before {
    }, after{};
    const runtime::Descriptor opened(
        packs::open_at(packs::kWorkingFolder, path.string().c_str(), O_RDWR));
    REQUIRE(packs::status_of(opened.get(), &before));
    runtime::note_use(opened, before);
    REQUIRE(packs::status_of(opened.get(), &after));
    return before.st_mtime != after.st_mtime;
  };
  CHECK_FALSE(is_written(0));
  CHECK_FALSE(is_written(24 * 3600 - 60));
  CHECK(is_written(24 * 3600 + 60));
  CHECK(is_written(-60));
}

TEST_CASE("a key and facts of an entry have at most a mebibyte each, and the binary a byte",
          "[folder]") {
  const auto code = [](std::size_t key, std::size_t facts, std::size_t binary) {
    const std::string key_text(key, 'k'), facts_text(facts, 'f');
    const packs::Bytes bytes(binary, 7);
    runtime::OverlayEntry entry;
    entry.key = key_text;
    entry.facts = facts_text;
    entry.binary = {bytes.data(), bytes.size()};
    entry.binary_xxh3 = packs::xxh3(bytes.data(), bytes.size());
    packs::Bytes file(runtime::kEntryHeaderSize);
    runtime::encode_entry_header(entry, file.data());
    for (const std::string &text : {key_text, facts_text}) {
      file.insert(file.end(), text.begin(), text.end());
    }
    file.insert(file.end(), bytes.begin(), bytes.end());
    runtime::OverlayEntry parsed;
    const packs::Status status = runtime::parse_entry({file.data(), file.size()}, &parsed);
    if (status.ok()) CHECK(parsed.binary.size == binary);
    return status.code;
  };
  constexpr std::size_t kMax = runtime::kMaxEntryText;
  CHECK(code(3, 4, 5) == packs::Code::ok);
  CHECK(code(0, 0, 1) == packs::Code::ok);
  CHECK(code(kMax, kMax, 1) == packs::Code::ok);
  CHECK(code(kMax + 1, 0, 1) == packs::Code::out_of_bounds);
  CHECK(code(0, kMax + 1, 1) == packs::Code::out_of_bounds);
  CHECK(code(3, 4, 0) == packs::Code::out_of_bounds);
  CHECK(code(0, 0, 0) == packs::Code::out_of_bounds);
}

TEST_CASE("a fact is found by its whole name", "[folder]") {
  runtime::OverlayEntry entry;
  entry.facts = "ab=1\na=2\nb\nc=\na=3\n";
  CHECK(entry.fact("a") == "2");
  CHECK(entry.fact("ab") == "1");
  for (const char *name : {"b", "c", "d", "2"}) CHECK(entry.fact(name).empty());
  entry.facts = std::string_view("a=x", 1);  // ends where its view ends
  CHECK(entry.fact("a").empty());
  const auto finality = [&](const char *facts) {
    entry.facts = facts;
    return entry.finality();
  };
  CHECK(finality("final=yes\n") == packs::Finality::yes);
  CHECK(finality("final=no\n") == packs::Finality::no);
  CHECK(finality("final=maybe\n") == packs::Finality::not_launched);
  CHECK(finality("") == packs::Finality::not_launched);
}

TEST_CASE("clearing goes on behind what cannot be removed, and says so", "[folder]") {
  const TemporaryFolder temporary;
  const auto clear = [&] { return runtime::clear_overlay(temporary.path().string().c_str()); };
  const std::vector<std::string> ours = {"e-" + kNumber + "-" + kNumber,
                                         "l-" + kNumber + "-" + kNumber, "d-" + kNumber,
                                         "temporary-" + kNumber, "a-" + kNumber};
  const auto fill = [&](const std::string &but) {
    for (const std::string &name : ours) {
      if (name == but) continue;
      const fs::path path = temporary.write(name, "x");
      fs::permissions(path, fs::perms::owner_all, fs::perm_options::replace);
    }
  };
  for (const std::string &name : ours) {
    CAPTURE(name);
    fill(name);
    fs::create_directory(temporary.path() / name);
    CHECK(clear() == EISDIR);
    CHECK(names_in(temporary.path(), "") == std::vector<std::string>{name});
    fs::remove(temporary.path() / name);
  }
  const std::vector<std::string> others = {"a-b", "b", "c", "d-e", "e-f", "f", "g", "h"};
  for (const std::string &name : others) temporary.write(name, "x");
  fill("");
  // A living process holds its marker.
  runtime::Descriptor marker(packs::open_at(
      packs::kWorkingFolder, (temporary.path() / ("a-" + kNumber)).string().c_str(), O_RDWR));
  REQUIRE(packs::try_lock(marker.get(), packs::Lock::alone));
  CHECK(clear() == 0);
  CHECK(names_in(temporary.path(), "").size() == others.size() + 1);
  CHECK(names_in(temporary.path(), "a-").at(0) == "a-" + kNumber);
  marker = runtime::Descriptor();
  CHECK(clear() == 0);
  CHECK(names_in(temporary.path(), "") == others);
}

TEST_CASE_METHOD(OverlayFixture, "an overlay is filled to the byte", "[folder]") {
  fake().il.binary = std::string(1000, 'b');
  { const Start start(base, overlay); }
  const fs::path first = overlay / names_in(overlay, "e-").at(0);
  const std::uint64_t size = fs::file_size(first);
  const auto stored = [&](const char *program, std::uint64_t limit) {
    const Start start(base, overlay, 0, program, 0, limit);
    return start.notices.has(KILN_NOTICE_STORED);
  };
  fs::remove(first);
  CHECK_FALSE(stored("p", size - 1));
  CHECK(stored("p", size));
  CHECK(stored("q", 2 * size));
  CHECK(names_in(overlay, "e-").size() == 2);
  CHECK(stored("r", 3 * size - 1));
  CHECK(names_in(overlay, "e-").size() == 2);
}

TEST_CASE_METHOD(OverlayFixture, "a temporary counts while it may be another process's",
                 "[folder]") {
  fake().il.binary = std::string(1000, 'b');
  { const Start start(base, overlay); }
  const std::uint64_t size = fs::file_size(overlay / names_in(overlay, "e-").at(0));
  const std::string name = "temporary-" + kNumber;
  const auto left = [&](int age, std::uint64_t limit) {
    folder.write(fs::path("overlay") / name, "12345");
    set_age(overlay / name, age);
    for (const std::string &entry : names_in(overlay, "e-")) fs::remove(overlay / entry);
    { const Start start(base, overlay, 0, "p", 0, limit); }
    { const Start start(base, overlay, 0, "q", 0, limit); }
    return names_in(overlay, "e-").size();
  };
  CHECK(left(60, 2 * size + 5) == 2);
  CHECK(names_in(overlay, "temporary-").size() == 1);
  CHECK(left(60, 2 * size + 4) == 1);
  CHECK(left(3600 + 60, 2 * size + 4) == 2);
  CHECK(names_in(overlay, "temporary-").empty());
  // What was removed takes no room.
  for (const std::string &entry : names_in(overlay, "e-")) fs::remove(overlay / entry);
  { const Start start(base, overlay, 0, "p", 0, 2 * size); }
  folder.write(fs::path("overlay") / name, "12345");
  set_age(overlay / name, 3600 + 60);
  { const Start start(base, overlay, 0, "q", 0, 2 * size); }
  CHECK(names_in(overlay, "e-").size() == 2);
}

TEST_CASE_METHOD(OverlayFixture, "a folder with an entry's name makes no room and is passed over",
                 "[folder]") {
  fake().il.binary = std::string(1000, 'b');
  { const Start start(base, overlay); }
  const std::uint64_t size = fs::file_size(overlay / names_in(overlay, "e-").at(0));
  for (const char digit : std::string("012345")) {
    fs::create_directory(overlay / ("e-" + std::string(16, digit) + "-" + kNumber));
  }
  { const Start start(base, overlay, 0, "q", 0, size); }
  CHECK(names_in(overlay, "e-").size() == 7);
  for (const char digit : std::string("012345")) {
    fs::remove(overlay / ("e-" + std::string(16, digit) + "-" + kNumber));
  }
}

TEST_CASE_METHOD(OverlayFixture, "32 drivers are remembered", "[folder]") {
  { const Start start(base, overlay); }
  REQUIRE(names_in(overlay, "d-").size() == 1);
  const std::string own = names_in(overlay, "d-")[0];
  const auto remembered = [&](unsigned others, const char *program) {
    for (unsigned i = 0; i < others; ++i) {
      const std::string name = "d-" + runtime::hex64(i);
      folder.write(fs::path("overlay") / name, "");
      set_age(overlay / name, 3600 + static_cast<int>(i));
    }
    { const Start start(base, overlay, 0, program); }
    return names_in(overlay, "d-").size();
  };
  CHECK(remembered(31, "q") == 32);
  CHECK(remembered(32, "r") == 32);
  CHECK(fs::exists(overlay / own));
}
