// SPDX-License-Identifier: Apache-2.0
// A folder that users and machines share: which folders are refused, whose markers count, and 16
// processes at once, some of them killed, with and without locks.
//
// The linker puts flock() of this file in the place of the C library's (--wrap). Root runs the
// processes as three users. KILN_TEST_ROUNDS is the number of rounds, and has them counted.
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include <sys/file.h>

#include "runtime/overlay/overlay.hpp"
#include "runtime/overlay/shared_folder.hpp"
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;
namespace fs = std::filesystem;

namespace {
bool no_locks = false;
}  // namespace

extern "C" {
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation) {
  if (!no_locks) return __real_flock(fd, operation);
  errno = ENOLCK;
  return -1;
}
}

namespace {

// A start of an application that shares its overlay.
class SharedStart {
 public:
  SharedStart(const packs::Bytes &pack, const fs::path &shared, const char *program = "p")
      : folder_(shared.string()), load(pack, 0, program, nullptr, fill()) {}

  // "-" if there is an overlay.
  std::string refusal() const {
    const std::string text = load.reason(KILN_RUNG_OVERLAY);
    return text.rfind("skipped: no overlay: ", 0) == 0 ? text.substr(21) : "-";
  }

 private:
  const kiln_loader_options *fill() {
    options_.size = sizeof(options_);
    kiln_loader_use_shared(&options_, folder_.c_str(), 0);
    options_.notice = Notices::collect;
    options_.notice_user = &notices;
    return &options_;
  }

  std::string folder_;
  kiln_loader_options options_ = {};

 public:
  Notices notices;
  FakeLoad load;
};

// A folder that users share, and what an application there has.
struct SharedFixture {
  SharedFixture() {
    reset_fake();
    REQUIRE(chmod(temporary.path().c_str(), 0755) == 0);
    REQUIRE(mkdir(shared.c_str(), 0700) == 0);
    REQUIRE(chmod(shared.c_str(), 01777) == 0);
  }

  std::string own() const { return (shared / std::to_string(geteuid())).string(); }
  std::string refusal() const { return SharedStart(base, shared).refusal(); }

  TemporaryFolder temporary;
  fs::path shared = temporary.path() / "shared";
  packs::Bytes base = written(without_targets(three_programs()));
};

}  // namespace

TEST_CASE_METHOD(SharedFixture, "each user has an overlay of its own in a shared folder",
                 "[shared]") {
  CHECK(SharedStart(base, shared).load.rung() == KILN_RUNG_IL);
  CHECK(names_in(shared, "") == std::vector<std::string>{std::to_string(geteuid())});
  CHECK((fs::status(own()).permissions() & fs::perms::all) == fs::perms::owner_all);
  CHECK(names_in(own(), "e-").size() == 1);
  CHECK(SharedStart(base, shared.string() + "/").load.rung() == KILN_RUNG_OVERLAY);
  CHECK(Start(base, own()).load.rung() == KILN_RUNG_OVERLAY);
}

TEST_CASE_METHOD(SharedFixture, "a folder in which others could replace files is refused",
                 "[shared]") {
  const std::string not_sticky =
      shared.string() + ": others may write to it and it is not sticky: chmod +t";
  const std::pair<mode_t, std::string> rows[] = {{0777, not_sticky}, {0770, not_sticky},
                                                 {0707, not_sticky}, {01777, "-"},
                                                 {01770, "-"},       {0755, "-"}};
  for (const auto &[mode, message] : rows) {
    CAPTURE(mode);
    REQUIRE(chmod(shared.c_str(), mode) == 0);
    CHECK(refusal() == message);
  }
  SharedStart none(base, shared / "none");
  CHECK(none.refusal() == (shared / "none").string() + ": No such file or directory");
  CHECK(none.notices.has(KILN_NOTICE_NO_OVERLAY));
  CHECK(none.load.status == KILN_OK);
  const fs::path link = temporary.path() / "link";
  fs::create_symlink(shared, link);
  CHECK(SharedStart(base, link).refusal() == link.string() + ": it is a symbolic link");
  CHECK(SharedStart(base, link.string() + "/").refusal() ==
        link.string() + ": it is a symbolic link");
}

TEST_CASE_METHOD(SharedFixture, "a user's folder that is not this user's alone is refused",
                 "[shared]") {
  const std::string others = own() + ": another user owns it or may write to it";
  const fs::path elsewhere = temporary.path() / "elsewhere";
  REQUIRE(mkdir(elsewhere.c_str(), 0700) == 0);
  fs::create_directory_symlink(elsewhere, own());
  CHECK(refusal() == own() + ": it is a symbolic link");
  fs::remove(own());
  std::ofstream(own()) << "a file";
  CHECK(refusal() == own() + ": Not a directory");
  fs::remove(own());
  REQUIRE(mkdir(own().c_str(), 0700) == 0);
  REQUIRE(chmod(own().c_str(), 0777) == 0);
  CHECK(refusal() == others);
  REQUIRE(chmod(own().c_str(), 0755) == 0);
  CHECK(refusal() == "-");
  CHECK(fs::is_empty(elsewhere));
  if (geteuid() != 0) {
    std::cout << "WARNING: only root can give a folder to another user\n";
    return;
  }
  REQUIRE(chown(own().c_str(), 4242, 4242) == 0);
  CHECK(refusal() == others);
}

TEST_CASE_METHOD(SharedFixture, "another machine's marker counts after a day", "[shared]") {
  const int status = in_child([&] {
    fake().binary.on_build = fake().il.on_build = fake().source.on_build = [] { _exit(9); };
    const SharedStart start(base, shared);
  });
  CHECK(WEXITSTATUS(status) == 9);
  const auto markers = names_in(own(), "a-");
  REQUIRE(markers.size() == 1);
  const std::string here = packs::hex64(runtime::machine_number()).substr(8);
  CHECK(markers[0].substr(2, 8) == here);
  const fs::path foreign = fs::path(own()) / ("a-00000001" + markers[0].substr(10));
  fs::rename(fs::path(own()) / markers[0], foreign);
  const SharedStart fresh(base, shared, "q");
  CHECK_FALSE(fresh.notices.has(KILN_NOTICE_DEATH));
  CHECK(fs::exists(foreign));
  fs::last_write_time(foreign, fs::file_time_type::clock::now() - std::chrono::hours(25));
  const SharedStart later(base, shared, "q");
  CHECK(later.notices.text(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
  CHECK_FALSE(fs::exists(foreign));
}

namespace {

constexpr unsigned kProcesses = 16;
constexpr unsigned kKills = 8;           // in each round
constexpr std::uint32_t kBinaries = 24;  // that each process stores, besides what it loads
constexpr const char *kPrograms[] = {"p", "q", "r"};

// What a process says through the pipe.
struct Told {
  enum What : std::uint32_t { stored, loaded, wrong, failed } what;
  std::uint32_t user;
  std::uint32_t number;  // of the binary; of the program for `loaded`
};

// The bytes follow from the number, and from the user: nobody has another's.
packs::Bytes binary_of(std::uint32_t user, std::uint32_t number) {
  std::mt19937 random(user * 1000 + number);
  packs::Bytes bytes(1 + random() % 60'000);
  for (std::uint8_t &byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

packs::Digest variant_of(std::uint32_t number) {
  packs::Digest hash{};
  hash[31] = 1;
  std::memcpy(hash.data(), &number, sizeof(number));
  return hash;
}

std::shared_ptr<runtime::Overlay> open_own(const std::string &shared) {
  std::string own;
  std::shared_ptr<runtime::Overlay> overlay;
  std::vector<runtime::Death> deaths;
  if (!runtime::own_overlay(shared.c_str(), &own).ok()) return overlay;
  kiln_device *device = fake_device();
  (void)runtime::Overlay::open(own.c_str(), std::uint64_t{1} << 30, *device->device, {},
                               runtime::machine_number(), &overlay, &deaths);
  kiln_device_release(device);
  return overlay;
}

enum class Found { no, whole, wrong };

Found find(const runtime::Overlay &overlay, std::uint32_t user, std::uint32_t number) {
  packs::Bytes file;
  runtime::Overlay::Stored stored;
  const packs::Status status = overlay.find(variant_of(number), 0, &file, &stored);
  if (!status.ok()) return status.code == packs::Code::not_found ? Found::no : Found::wrong;
  const packs::Bytes wanted = binary_of(user, number);
  const bool same = stored.binary.size == wanted.size() &&
                    std::memcmp(stored.binary.data, wanted.data(), wanted.size()) == 0;
  return same ? Found::whole : Found::wrong;
}

void become(uid_t user) {
  if (geteuid() == user) return;
  if (setgid(user) != 0 || setuid(user) != 0) _exit(3);
}

// A cold process: loads the programs, then stores binaries that others store at the same time.
[[noreturn]] void work(const SharedFixture &machine, uid_t user, unsigned seed, int out) {
  become(user);
  const auto tell = [&](Told::What what, std::uint32_t number) {
    const Told told{what, user, number};
    if (write(out, &told, sizeof(told)) != sizeof(told)) _exit(2);
  };
  for (std::uint32_t i = 0; i < std::size(kPrograms); ++i) {
    const SharedStart start(machine.base, machine.shared, kPrograms[i]);
    if (start.load.status != KILN_OK || start.refusal() != "-") tell(Told::failed, i);
    if (start.notices.has(KILN_NOTICE_STORED)) tell(Told::loaded, i);
  }
  const auto overlay = open_own(machine.shared.string());
  if (overlay == nullptr) {
    tell(Told::failed, 0);
    _exit(1);
  }
  std::vector<std::uint32_t> numbers(kBinaries);
  for (std::uint32_t i = 0; i < kBinaries; ++i) numbers[i] = i;
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(seed));
  for (const std::uint32_t number : numbers) {
    if (find(*overlay, user, number) == Found::wrong) tell(Told::wrong, number);
    const packs::Bytes bytes = binary_of(user, number);
    const packs::Status status =
        overlay->store_binary(variant_of(number), 0, {bytes.data(), bytes.size()}, "p", "v",
                              packs::Finality::not_launched);
    tell(status.ok() ? Told::stored : Told::failed, number);
  }
  _exit(0);
}

struct Counts {
  unsigned kills = 0;
  unsigned stored = 0;
  unsigned lost = 0;
  unsigned wrong = 0;
  unsigned failed = 0;
};

// What a later process of the user finds. Its checks are not counted, so it says what it sees.
Counts look_again(const SharedFixture &machine, uid_t user, const std::set<std::uint32_t> &stored,
                  const std::set<std::uint32_t> &loaded) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int status = in_child([&] {
    become(user);
    Counts seen;
    const auto overlay = open_own(machine.shared.string());
    if (overlay == nullptr) _exit(1);
    for (std::uint32_t number = 0; number < kBinaries; ++number) {
      const Found found = find(*overlay, user, number);
      seen.wrong += found == Found::wrong ? 1 : 0;
      seen.lost += found == Found::no && stored.count(number) != 0 ? 1 : 0;
    }
    const fs::path own = machine.shared / std::to_string(user);
    for (const std::string &name : names_in(own, "e-")) {
      const std::string file = contents_of(own / name);
      runtime::OverlayEntry entry;
      const packs::View view{reinterpret_cast<const std::uint8_t *>(file.data()), file.size()};
      seen.wrong += runtime::parse_entry(view, &entry).ok() ? 0 : 1;
    }
    for (const std::string &name : names_in(own, "d-")) {
      const std::string file = contents_of(own / name);
      for (std::size_t at = runtime::kJournalHeaderSize; at < file.size();
           at += runtime::kRecordSize) {
        const std::string cell = file.substr(at, runtime::kRecordSize);
        const bool is_record =
            cell.size() == runtime::kRecordSize &&
            runtime::decode_record(reinterpret_cast<const std::uint8_t *>(cell.data())).event !=
                runtime::Event::none;
        // Two processes that make the journal at once both write its header.
        seen.wrong += is_record || file.find(cell) < runtime::kJournalHeaderSize ? 0 : 1;
      }
    }
    for (const std::uint32_t i : loaded) {
      const SharedStart start(machine.base, machine.shared, kPrograms[i]);
      // A kill may have come inside the driver.
      const bool is_quarantined = start.load.reason(KILN_RUNG_OVERLAY).rfind("quarantined", 0) == 0;
      seen.lost += start.load.rung() == KILN_RUNG_OVERLAY || is_quarantined ? 0 : 1;
    }
    (void)!write(ends[1], &seen, sizeof(seen));
  });
  close(ends[1]);
  Counts seen;
  CHECK(status == 0);
  CHECK(read(ends[0], &seen, sizeof(seen)) == sizeof(seen));
  close(ends[0]);
  return seen;
}

Counts run_round(const std::vector<uid_t> &users, std::mt19937 *random) {
  const SharedFixture machine;
  Counts counts;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::vector<pid_t> living;
  for (unsigned i = 0; i < kProcesses; ++i) {
    const uid_t user = users[i % users.size()];
    const auto seed = static_cast<unsigned>((*random)());
    living.push_back(fork());
    if (living.back() == 0) {
      close(ends[0]);
      work(machine, user, seed, ends[1]);
    }
  }
  close(ends[1]);
  const std::vector<pid_t> children = living;
  // A kill comes wherever its process is when one of them all has stored something.
  std::set<unsigned> kills;
  while (kills.size() < kKills) kills.insert(static_cast<unsigned>((*random)() % 160));
  std::map<uid_t, std::set<std::uint32_t>> stored, loaded;
  Told told{};
  for (unsigned at = 0; read(ends[0], &told, sizeof(told)) == sizeof(told); ++at) {
    switch (told.what) {
      case Told::stored: stored[told.user].insert(told.number); break;
      case Told::loaded: loaded[told.user].insert(told.number); break;
      case Told::wrong: ++counts.wrong; break;
      default: ++counts.failed;
    }
    if (kills.count(at) == 0) continue;
    const std::size_t which = (*random)() % living.size();
    kill(living[which], SIGKILL);
    living.erase(living.begin() + static_cast<std::ptrdiff_t>(which));
  }
  close(ends[0]);
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    counts.kills += WIFSIGNALED(status) ? 1 : 0;
    CHECK((WIFSIGNALED(status) || status == 0));
  }
  for (const uid_t user : users) {
    const Counts seen = look_again(machine, user, stored[user], loaded[user]);
    counts.stored += static_cast<unsigned>(stored[user].size() + loaded[user].size());
    counts.lost += seen.lost;
    counts.wrong += seen.wrong;
  }
  return counts;
}

}  // namespace

TEST_CASE("16 cold processes, half of them killed, lose nothing in a shared folder", "[shared]") {
  const char *const wanted = std::getenv("KILN_TEST_ROUNDS");
  const unsigned rounds =
      wanted == nullptr ? 4 : static_cast<unsigned>(std::strtoul(wanted, nullptr, 10));
  const bool is_root = geteuid() == 0;
  const std::vector<uid_t> users =
      is_root ? std::vector<uid_t>{65534, 20001, 20002} : std::vector<uid_t>{geteuid()};
  std::mt19937 random(16);
  Counts all;
  for (unsigned round = 0; round < rounds; ++round) {
    no_locks = round % 2 != 0;
    const Counts counts = run_round(users, &random);
    all.kills += counts.kills;
    all.stored += counts.stored;
    all.lost += counts.lost;
    all.wrong += counts.wrong;
    all.failed += counts.failed;
  }
  no_locks = false;
  CHECK(all.lost == 0);
  CHECK(all.wrong == 0);
  CHECK(all.failed == 0);
  CHECK(all.kills > rounds);
  CHECK(all.stored > 10 * rounds);
  if (wanted != nullptr) {
    std::cout << rounds << " rounds of " << kProcesses << " processes of " << users.size()
              << " users: " << all.kills << " killed, " << all.stored << " stored, " << all.lost
              << " lost, " << all.wrong << " wrong\n";
  }
  if (!is_root) std::cout << "WARNING: only root can start processes of several users\n";
}
