// SPDX-License-Identifier: Apache-2.0
// What a device had to compile is there at the next start, and whatever is wrong with the
// folder costs the overlay and nothing else.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "tests/runtime/overlay/overlay_fixture.hpp"
#include "tests/support/plain_user.hpp"

using namespace kiln;
using namespace kiln::test;
namespace fs = std::filesystem;

namespace {

struct EntryFixture : OverlayFixture {
  fs::path entry() const {
    const auto names = names_in(overlay, "e-");
    REQUIRE(names.size() == 1);
    return overlay / names[0];
  }
};

// Name, size and modification time of every file, as one text.
std::string state_of(const fs::path &folder) {
  std::string state;
  for (const std::string &name : names_in(folder, "")) {
    struct stat info {};
    REQUIRE(stat((folder / name).c_str(), &info) == 0);
    state += name + " " + std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) +
             "." + std::to_string(info.st_mtim.tv_nsec) + "\n";
  }
  return state;
}

}  // namespace

TEST_CASE_METHOD(EntryFixture, "what was compiled at the first start is loaded at the second",
                 "[overlay]") {
  {
    const Start first(base, overlay);
    CHECK(first.load.rung() == KILN_RUNG_IL);
    CHECK(first.load.reason(KILN_RUNG_OVERLAY) ==
          "missed: the overlay has no binary of this variant");
    CHECK(first.notices.has(KILN_NOTICE_STORED));
    CHECK(mentions(first.load.json(),
                   "\"notes\": [\"the driver's binary was stored in the overlay\"]"));
  }
  const Start second(base, overlay);
  CHECK(second.load.rung() == KILN_RUNG_OVERLAY);
  CHECK(mentions(second.load.json(), "\"rung\": \"overlay\", \"recompiled\": false"));
  CHECK(mentions(second.load.json(), "\"nearest\": null"));
  CHECK(second.notices.has(KILN_NOTICE_LOADED));
}

TEST_CASE_METHOD(EntryFixture, "what is proven writes nothing", "[overlay]") {
  for (int i = 0; i < 2; ++i) const Start start(pack, overlay);
  const std::string before = state_of(overlay);
  const Start third(pack, overlay);
  CHECK(third.load.rung() == KILN_RUNG_EXACT);
  CHECK(state_of(overlay) == before);
  CHECK(names_in(overlay, "a-").empty());
}

TEST_CASE_METHOD(EntryFixture, "another driver keeps its own binaries, for a rollback",
                 "[overlay]") {
  { const Start old(base, overlay); }
  fake().driver_version = "7.2";
  { CHECK(Start(base, overlay).load.rung() == KILN_RUNG_IL); }
  { CHECK(Start(base, overlay).load.rung() == KILN_RUNG_OVERLAY); }
  CHECK(names_in(overlay, "e-").size() == 2);
  fake().driver_version = "7.1";
  CHECK(Start(base, overlay).load.rung() == KILN_RUNG_OVERLAY);
}

TEST_CASE_METHOD(EntryFixture, "the overlay can be left out of a load", "[overlay]") {
  { const Start start(base, overlay, KILN_LOAD_NO_OVERLAY); }
  CHECK(names_in(overlay, "e-").empty());
  { const Start start(base, overlay); }
  const Start without(base, overlay, KILN_LOAD_NO_OVERLAY);
  CHECK(without.load.reason(KILN_RUNG_OVERLAY) == "skipped: switched off");
  CHECK(without.load.rung() == KILN_RUNG_IL);
}

TEST_CASE_METHOD(EntryFixture, "a damaged entry is never given to the driver, and is replaced",
                 "[overlay]") {
  { const Start start(base, overlay); }
  const fs::path path = entry();
  const std::string good = contents_of(path);
  for (std::size_t size = 0; size < good.size(); ++size) {
    std::ofstream(path, std::ios::binary) << good.substr(0, size);
    fake().binary.builds = 0;
    const Start start(base, overlay);
    CHECK(start.load.rung() == KILN_RUNG_IL);
    CHECK(mentions(start.load.reason(KILN_RUNG_OVERLAY), "is damaged"));
    CHECK(fake().binary.builds == 0);
    CHECK(contents_of(path) == good);
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    std::ofstream(path, std::ios::binary) << bad;
    fake().binary.builds = 0;
    CHECK(Start(base, overlay).load.rung() == KILN_RUNG_IL);
    CHECK(fake().binary.builds == 0);
  }
  std::ofstream(path, std::ios::binary) << good << "x";
  CHECK(mentions(Start(base, overlay).load.reason(KILN_RUNG_OVERLAY), "is damaged"));
}

TEST_CASE_METHOD(EntryFixture, "an entry of another variant under this one's name is refused",
                 "[overlay]") {
  { const Start p(base, overlay); }
  const fs::path path = entry();
  fs::rename(path, folder.path() / "kept");
  { const Start q(base, overlay, 0, "q"); }
  const fs::path other = entry();
  fs::rename(folder.path() / "kept", other);
  const Start start(base, overlay, 0, "q");
  CHECK(start.load.rung() == KILN_RUNG_IL);
  CHECK(mentions(start.load.reason(KILN_RUNG_OVERLAY), "is another device's or variant's"));
}

TEST_CASE_METHOD(EntryFixture,
                 "a folder that cannot be used is no overlay, and the report says why",
                 "[overlay]") {
  const auto reason = [&] {
    const Start start(base, overlay);
    CHECK(start.load.status == KILN_OK);
    CHECK(start.load.rung() == KILN_RUNG_IL);
    CHECK(start.notices.has(KILN_NOTICE_NO_OVERLAY));
    const std::string text = start.load.reason(KILN_RUNG_OVERLAY);
    const std::string head = "skipped: no overlay: " + overlay.string() + ": ";
    REQUIRE(text.compare(0, head.size(), head) == 0);
    return text.substr(head.size());
  };
  folder.write("overlay", "a file");
  CHECK(reason() == "Not a directory");
  fs::remove(overlay);
  fs::create_directory(folder.path() / "elsewhere");
  fs::create_symlink(folder.path() / "elsewhere", overlay);
  CHECK(reason() == "it is a symbolic link");
  fs::remove(overlay);
  fs::create_symlink(folder.path() / "nowhere", overlay);
  CHECK(reason() == "it is a symbolic link");
  fs::remove(overlay);
  fs::create_directory(overlay);
  fs::permissions(overlay, fs::perms::all);
  CHECK(reason() == "another user owns it or may write to it");
  fs::remove(overlay);
  overlay = folder.path() / "missing" / "overlay";
  CHECK(reason() == "No such file or directory");
}

TEST_CASE_METHOD(EntryFixture, "something else in an entry's place is a miss and stays",
                 "[overlay]") {
  { const Start start(base, overlay); }
  const fs::path path = entry();
  fs::remove(path);
  fs::create_directory(path);
  {
    const Start start(base, overlay);
    CHECK(start.load.rung() == KILN_RUNG_IL);
    CHECK(mentions(start.load.reason(KILN_RUNG_OVERLAY), "Is a directory"));
    CHECK(mentions(start.notices.text(KILN_NOTICE_NOT_STORED), "Is a directory"));
  }
  fs::remove(path);
  folder.write("precious", "keep me");
  fs::create_symlink(folder.path() / "precious", path);
  {
    const Start start(base, overlay);
    CHECK(start.load.rung() == KILN_RUNG_IL);
    CHECK(mentions(start.load.reason(KILN_RUNG_OVERLAY), "it is a symbolic link"));
  }
  CHECK(contents_of(folder.path() / "precious") == "keep me");
  fs::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(mentions(Start(base, overlay).load.reason(KILN_RUNG_OVERLAY), "Invalid argument"));
}

TEST_CASE_METHOD(EntryFixture, "a disk without room costs the entry, and says so", "[overlay]") {
  const int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1400, 1400};  // room for a marker and a journal
    setrlimit(RLIMIT_FSIZE, &limit);
    fake().il.binary = std::string(4000, 'b');
    const Start start(base, overlay);
    const bool right = start.load.rung() == KILN_RUNG_IL &&
                       mentions(start.notices.text(KILN_NOTICE_NOT_STORED), "File too large");
    _exit(right ? 0 : 1);
  });
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(names_in(overlay, "e-").empty());
  CHECK(names_in(overlay, "temporary-").empty());
  const int unguarded = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{0, 0};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Start start(base, overlay, 0, "q");
    const bool right = start.load.rung() == KILN_RUNG_IL &&
                       mentions(start.notices.text(KILN_NOTICE_NO_GUARD), "File too large");
    _exit(right ? 0 : 1);
  });
  CHECK(WEXITSTATUS(unguarded) == 0);
}

TEST_CASE_METHOD(EntryFixture,
                 "a full, a read-only and a forbidden disk cost the overlay's use, and say so",
                 "[overlay]") {
  fs::create_directory(overlay);
  // In a child with mounts of its own; root alone may make them.
  constexpr int kCannot = 77;
  const auto start_on = [&](const char *options, unsigned long flags, const char *said) {
    return WEXITSTATUS(in_child([&] {
      const char *path = overlay.c_str();
      if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, "") ||
          mount("tmpfs", path, "tmpfs", 0, options) != 0) {
        _exit(kCannot);
      }
      if (flags != 0 && mount("none", path, "none", MS_REMOUNT | flags, "mode=700") != 0) {
        _exit(kCannot);
      }
      fake().il.binary = std::string(200'000, 'b');
      const Start start(base, overlay);
      const bool right = start.load.rung() == KILN_RUNG_IL &&
                         mentions(start.notices.text(KILN_NOTICE_NOT_STORED), said);
      if (!right) {
        std::fprintf(stderr, "%s: %s\n", said, start.notices.text(KILN_NOTICE_NOT_STORED).c_str());
      }
      _exit(right ? 0 : 1);
    }));
  };
  const int full = start_on("size=64k,mode=700", 0, "No space left on device");
  if (full == kCannot) {
    record_skip("this user cannot mount: a full and a read-only disk were not tried");
  } else {
    CHECK(full == 0);
    CHECK(start_on("mode=700", MS_RDONLY, "Read-only file system") == 0);
  }
  const std::string said = as_plain_user([&] {
    const TemporaryFolder closed;
    fs::permissions(closed.path(), fs::perms::owner_read | fs::perms::owner_exec);
    const Start start(base, closed.path());
    fs::permissions(closed.path(), fs::perms::owner_all);
    return start.notices.text(KILN_NOTICE_NOT_STORED);
  });
  CHECK(mentions(said, "Permission denied"));
  if (geteuid() != 0) return;
  overlay = "/sys";  // of root, who may not write there either
  const Start start(base, overlay);
  CHECK(start.load.rung() == KILN_RUNG_IL);
  if (start.notices.has(KILN_NOTICE_NO_OVERLAY)) return;  // in a container it may be another's
  CHECK(start.notices.has(KILN_NOTICE_NOT_STORED));
  CHECK(start.notices.has(KILN_NOTICE_NO_GUARD));
}

TEST_CASE_METHOD(EntryFixture, "what was used least recently makes room", "[overlay]") {
  fake().il.binary = std::string(1000, 'b');
  { const Start start(base, overlay); }
  const std::uint64_t limit = fs::file_size(entry()) * 5 / 2;  // two fit
  fs::remove(entry());
  const auto age = [&](const char *program, int hours) {
    const Start start(base, overlay, 0, program, 0, limit);
    for (const std::string &name : names_in(overlay, "e-")) {
      if (!mentions(contents_of(overlay / name), std::string("program=") + program)) continue;
      fs::last_write_time(overlay / name,
                          fs::file_time_type::clock::now() - std::chrono::hours(hours));
    }
    return start.load.rung();
  };
  CHECK(age("p", 30) == KILN_RUNG_IL);
  CHECK(age("q", 40) == KILN_RUNG_IL);
  CHECK(age("q", 2) == KILN_RUNG_OVERLAY);
  CHECK(age("r", 1) == KILN_RUNG_IL);  // takes the place of p
  CHECK(age("q", 2) == KILN_RUNG_OVERLAY);
  CHECK(names_in(overlay, "e-").size() == 2);
  CHECK(Start(base, overlay, 0, "p", 0, limit).load.rung() == KILN_RUNG_IL);
  fake().il.binary = std::string(9000, 'c');
  const Start none(base, overlay, KILN_LOAD_NO_BINARY, "p", 0, limit);
  CHECK(mentions(none.notices.text(KILN_NOTICE_NOT_STORED), "larger than the overlay may be"));
}

TEST_CASE_METHOD(EntryFixture, "a use is written down once a day", "[overlay]") {
  { const Start start(base, overlay); }
  const fs::path path = entry();
  const auto set_age = [&](int hours) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return fs::last_write_time(path);
  };
  auto before = set_age(23);
  { const Start start(base, overlay); }
  CHECK(fs::last_write_time(path) == before);
  before = set_age(25);
  { const Start start(base, overlay); }
  CHECK(fs::last_write_time(path) > before);
}

TEST_CASE_METHOD(EntryFixture, "clearing removes what is there and nothing else", "[overlay]") {
  { const Start start(base, overlay); }
  folder.write("overlay/notes.txt", "the user's");
  kiln_error error{};
  CHECK(kiln_overlay_clear(overlay.c_str(), &error) == KILN_OK);
  CHECK(names_in(overlay, "") == std::vector<std::string>{"notes.txt"});
  CHECK(kiln_overlay_clear((folder.path() / "none").c_str(), &error) == KILN_OK);
  CHECK(kiln_overlay_clear((overlay / "notes.txt").c_str(), &error) == KILN_ERROR_PACK_IO);
  CHECK(mentions(error.message, "Not a directory"));
}
