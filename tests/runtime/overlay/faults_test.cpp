// SPDX-License-Identifier: Apache-2.0
// Kiln's own calls of the operating system fail, or the process is killed at them, one after the
// other: before the call, after it, with a full disk, a broken one, a short write, a rename that
// never reaches the disk. What follows must be a machine that has lost nothing.
//
// The linker puts these functions in the place of the C library's (--wrap) for everything in this
// executable. They do so in a forked child alone, once it is armed.
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <random>

#include <fcntl.h>
#include <sys/file.h>

#include "runtime/overlay/driver_number.hpp"
#include "runtime/overlay/entry.hpp"
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;
namespace fs = std::filesystem;

namespace {

enum class Fault {
  none,
  kill_before,
  kill_after,
  disk_full,
  io_error,
  short_count,
  lost_rename,
  no_locks,
  locked
};

struct Plan {
  Fault fault = Fault::none;
  unsigned at = 0;         // which of the calls that it applies to, from 1
  bool and_after = false;  // as well as all that follow
  unsigned calls = 0;
};
Plan plan;
unsigned syncs = 0;  // calls of fsync

// Calls by what can become of them.
enum Calls : unsigned { kAny = 0, kWrites = 1, kCounts = 2, kRenames = 4, kLocks = 8 };

bool applies(unsigned calls) {
  switch (plan.fault) {
    case Fault::none: return false;
    case Fault::disk_full: return (calls & kWrites) != 0;
    case Fault::short_count: return (calls & kCounts) != 0;
    case Fault::lost_rename: return (calls & kRenames) != 0;
    case Fault::no_locks:
    case Fault::locked: return (calls & kLocks) != 0;
    default: return true;
  }
}

bool hit(unsigned calls) {
  if (!applies(calls)) return false;
  ++plan.calls;
  return plan.calls == plan.at || (plan.and_after && plan.calls > plan.at);
}

// `real(share)` makes the call, with that share of its bytes.
template <typename Real>
auto faulty(unsigned calls, Real real) -> decltype(real(1.0)) {
  if (!hit(calls)) return real(1.0);
  switch (plan.fault) {
    case Fault::kill_before: raise(SIGKILL); break;
    case Fault::kill_after:
      (void)real(1.0);
      raise(SIGKILL);
      break;
    case Fault::disk_full: errno = ENOSPC; return -1;
    case Fault::io_error: errno = EIO; return -1;
    case Fault::no_locks: errno = ENOLCK; return -1;
    case Fault::locked: errno = EWOULDBLOCK; return -1;
    case Fault::short_count: return real(0.5);
    default: break;
  }
  return 0;
}

std::size_t part(std::size_t size, double share) {
  return static_cast<std::size_t>(static_cast<double>(size) * share);
}

}  // namespace

extern "C" {

#define KILN_REAL(name) __real_##name

int KILN_REAL(open)(const char *, int, ...);
int KILN_REAL(open64)(const char *, int, ...);
int KILN_REAL(openat)(int, const char *, int, ...);
int KILN_REAL(openat64)(int, const char *, int, ...);
ssize_t KILN_REAL(pwrite)(int, const void *, size_t, off_t);
ssize_t KILN_REAL(pwrite64)(int, const void *, size_t, off_t);
ssize_t KILN_REAL(pread)(int, void *, size_t, off_t);
ssize_t KILN_REAL(pread64)(int, void *, size_t, off_t);
ssize_t KILN_REAL(write)(int, const void *, size_t);
int KILN_REAL(fsync)(int);
int KILN_REAL(flock)(int, int);
int KILN_REAL(mkdir)(const char *, mode_t);
int KILN_REAL(renameat)(int, const char *, int, const char *);
int KILN_REAL(unlinkat)(int, const char *, int);

// The mode is given always: it is not looked at without O_CREAT.
static mode_t mode_of(va_list arguments, int flags) {
  return (flags & O_CREAT) == 0 ? 0 : static_cast<mode_t>(va_arg(arguments, unsigned));
}
static unsigned calls_of(int flags) { return (flags & O_CREAT) == 0 ? kAny : kWrites; }

#define KILN_WRAP_OPEN(name)                                                                    \
  int __wrap_##name(const char *path, int flags, ...) {                                         \
    va_list arguments;                                                                          \
    va_start(arguments, flags);                                                                 \
    const mode_t mode = mode_of(arguments, flags);                                              \
    va_end(arguments);                                                                          \
    return faulty(calls_of(flags), [&](double) { return KILN_REAL(name)(path, flags, mode); }); \
  }
KILN_WRAP_OPEN(open)
KILN_WRAP_OPEN(open64)

#define KILN_WRAP_OPENAT(name)                                                     \
  int __wrap_##name(int at, const char *path, int flags, ...) {                    \
    va_list arguments;                                                             \
    va_start(arguments, flags);                                                    \
    const mode_t mode = mode_of(arguments, flags);                                 \
    va_end(arguments);                                                             \
    return faulty(calls_of(flags),                                                 \
                  [&](double) { return KILN_REAL(name)(at, path, flags, mode); }); \
  }
KILN_WRAP_OPENAT(openat)
KILN_WRAP_OPENAT(openat64)

#define KILN_WRAP_AT(name, pointer, calls)                                  \
  ssize_t __wrap_##name(int fd, pointer bytes, size_t size, off_t offset) { \
    return faulty(calls, [&](double share) {                                \
      return KILN_REAL(name)(fd, bytes, part(size, share), offset);         \
    });                                                                     \
  }
KILN_WRAP_AT(pwrite, const void *, kWrites | kCounts)
KILN_WRAP_AT(pwrite64, const void *, kWrites | kCounts)
KILN_WRAP_AT(pread, void *, kCounts)
KILN_WRAP_AT(pread64, void *, kCounts)

ssize_t __wrap_write(int fd, const void *bytes, size_t size) {
  return faulty(kWrites | kCounts,
                [&](double share) { return KILN_REAL(write)(fd, bytes, part(size, share)); });
}
int __wrap_fsync(int fd) {
  ++syncs;
  return faulty(kWrites, [&](double) { return KILN_REAL(fsync)(fd); });
}
int __wrap_flock(int fd, int operation) {
  return faulty(kLocks, [&](double) { return KILN_REAL(flock)(fd, operation); });
}
int __wrap_mkdir(const char *path, mode_t mode) {
  return faulty(kWrites, [&](double) { return KILN_REAL(mkdir)(path, mode); });
}
int __wrap_renameat(int from_at, const char *from, int to_at, const char *to) {
  return faulty(kWrites | kRenames,
                [&](double) { return KILN_REAL(renameat)(from_at, from, to_at, to); });
}
int __wrap_unlinkat(int at, const char *path, int flags) {
  return faulty(kAny, [&](double) { return KILN_REAL(unlinkat)(at, path, flags); });
}
}

namespace {

struct Outcome {
  bool killed = false;
  bool loaded = false;
  bool stored = false;  // the application was told so
  bool hit = false;     // the fault came to pass
  unsigned syncs = 0;   // files that were synced
};

// One start in a child, with the plan.
Outcome start_with(const Plan &wanted, const packs::Bytes &pack, const fs::path &overlay,
                   const char *program = "p") {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const int status = in_child([&] {
    static int out;
    out = pipe_ends[1];
    struct Told {
      static void on_notice(const kiln_notice *notice, void *) {
        if (notice->kind == KILN_NOTICE_STORED) (void)!KILN_REAL(write)(out, "s", 1);
      }
    };
    const std::string path = overlay.string();
    kiln_loader_options options = {};
    options.size = sizeof(options);
    kiln_loader_use_overlay(&options, path.c_str(), 0);
    options.notice = Told::on_notice;
    plan = wanted;
    syncs = 0;
    bool loaded = false;
    {
      const FakeLoad load(pack, 0, program, nullptr, &options);
      loaded = load.status == KILN_OK;
    }
    plan.fault = Fault::none;
    if (loaded) (void)!KILN_REAL(write)(out, "l", 1);
    for (; syncs != 0; --syncs) (void)!KILN_REAL(write)(out, "f", 1);
    if (plan.calls >= plan.at) (void)!KILN_REAL(write)(out, "h", 1);
    _exit(0);
  });
  close(pipe_ends[1]);
  Outcome outcome;
  outcome.killed = outcome.hit = WIFSIGNALED(status);
  for (char byte = 0; read(pipe_ends[0], &byte, 1) == 1;) {
    outcome.stored |= byte == 's';
    outcome.loaded |= byte == 'l';
    outcome.hit |= byte == 'h';
    outcome.syncs += byte == 'f' ? 1 : 0;
  }
  close(pipe_ends[0]);
  return outcome;
}

// A machine with so many starts behind it.
struct Machine {
  Machine(const packs::Bytes &bytes, unsigned starts) : pack(bytes) {
    for (unsigned i = 0; i < starts; ++i) start_with({}, pack, overlay);
  }
  packs::Bytes pack;
  TemporaryFolder folder;
  fs::path overlay = folder.path() / "overlay";
};

bool has_quarantine(const Start &start) {
  return start.load.json().find("quarantined") != std::string::npos;
}

// The next undisturbed start lacks nothing.
void check_after(const Machine &machine, const Outcome &outcome, bool lost) {
  const Start next(machine.pack, machine.overlay);
  CHECK(next.load.status == KILN_OK);
  CHECK_FALSE(has_quarantine(next));
  if (outcome.stored && !lost) CHECK(next.load.rung() == KILN_RUNG_OVERLAY);
}

void check_settled(const Machine &machine, kiln_rung best) {
  const Start settled(machine.pack, machine.overlay);
  CHECK(settled.load.rung() == best);
  CHECK_FALSE(has_quarantine(settled));
}

struct Fixture {
  Fixture() { reset_fake(); }
  packs::Bytes full = written(three_programs());
  packs::Bytes base = written(without_targets(three_programs()));
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a process may be killed at any call, and a file system may fail at it",
                 "[faults]") {
  const struct {
    const char *name;
    Fault fault;
    bool and_after;
    unsigned least;  // that are tried
  } faults[] = {{"killed before", Fault::kill_before, false, 70},
                {"killed after", Fault::kill_after, false, 70},
                {"no space once", Fault::disk_full, false, 30},
                {"no space from then on", Fault::disk_full, true, 30},
                {"an error once", Fault::io_error, false, 70},
                {"errors from then on", Fault::io_error, true, 70},
                {"half of the bytes", Fault::short_count, false, 20},
                {"a lost rename", Fault::lost_rename, false, 1}};
  for (const auto &fault : faults) {
    unsigned tried = 0;
    const bool kills = fault.fault == Fault::kill_before || fault.fault == Fault::kill_after;
    for (const packs::Bytes *pack : {&base, &full}) {
      const kiln_rung best = pack == &base ? KILN_RUNG_OVERLAY : KILN_RUNG_EXACT;
      for (unsigned starts = 0; starts < 3; ++starts) {
        for (unsigned at = 1; at < 200; ++at) {
          const Machine machine(*pack, starts);
          const Outcome outcome =
              start_with({fault.fault, at, fault.and_after}, *pack, machine.overlay);
          CAPTURE(fault.name, starts, at, best);
          if (!outcome.hit) break;
          ++tried;
          CHECK(outcome.killed == kills);
          CHECK(outcome.loaded == !kills);  // whatever the disk does
          check_after(machine, outcome, fault.fault == Fault::lost_rename);
          check_settled(machine, best);
        }
      }
    }
    CAPTURE(fault.name, tried);
    CHECK(tried >= fault.least);
  }
}

TEST_CASE_METHOD(Fixture, "a process without locks leaves no marker, unless another has taken it",
                 "[faults]") {
  for (const Fault fault : {Fault::no_locks, Fault::locked}) {
    const Machine machine(base, 0);
    const Outcome outcome = start_with({fault, 1, true}, base, machine.overlay);
    CHECK(outcome.hit);
    CHECK(outcome.loaded);
    CHECK(names_in(machine.overlay, "a-").empty() == (fault == Fault::no_locks));
    check_settled(machine, KILN_RUNG_OVERLAY);
  }
}

// Replaces the boot in which the machine's only entry was stored.
void set_boot(const Machine &machine, const std::string &boot) {
  const std::vector<std::string> names = names_in(machine.overlay, runtime::kEntryPrefix);
  REQUIRE(names.size() == 1);
  const packs::Bytes file = bytes_of(contents_of(machine.overlay / names[0]));
  runtime::OverlayEntry entry;
  REQUIRE(runtime::parse_entry({file.data(), file.size()}, &entry).ok());
  const std::string before = "boot=" + std::string(entry.fact("boot")) + "\n";
  std::string facts(entry.facts);
  REQUIRE(facts.find(before) != std::string::npos);
  facts.replace(facts.find(before), before.size(), "boot=" + boot + "\n");
  entry.facts = facts;
  std::uint8_t header[runtime::kEntryHeaderSize];
  runtime::encode_entry_header(entry, header);
  std::ofstream out(machine.overlay / names[0], std::ios::binary);
  out.write(reinterpret_cast<const char *>(header), sizeof(header)) << entry.key << facts;
  out.write(reinterpret_cast<const char *>(entry.binary.data),
            static_cast<std::streamsize>(entry.binary.size));
}

TEST_CASE_METHOD(Fixture, "a binary that was stored since the machine's boot is loaded unsynced",
                 "[faults]") {
  if (runtime::boot_id().empty()) KILN_SKIP("the system has no id of its boot");
  const auto second = [&](const Machine &machine) {
    const Outcome outcome = start_with({}, base, machine.overlay);
    CHECK(outcome.loaded);
    return outcome.syncs;
  };
  CHECK(second(Machine(base, 0)) > 1);
  CHECK(second(Machine(base, 1)) == 0);
  const Machine booted(base, 1);
  set_boot(booted, "an earlier one");
  CHECK(second(booted) == 1);
  // Its death is found all the same.
  const Machine machine(base, 1);
  dies_at_start(base, machine.overlay);
  const Start next(base, machine.overlay);
  CHECK(next.notices.has(KILN_NOTICE_DEATH));
}

TEST_CASE_METHOD(Fixture, "a thousand starts, three in ten of them killed, lose nothing",
                 "[faults]") {
  std::mt19937 random(11);
  for (const packs::Bytes *pack : {&base, &full}) {
    const Machine machine(*pack, 0);
    unsigned killed = 0;
    for (unsigned i = 0; i < 1000; ++i) {
      const char *const program = i % 3 == 0 ? "p" : i % 3 == 1 ? "q" : "r";
      const bool in_driver = random() % 2 == 0;
      Plan wanted;
      const bool kills = random() % 10 < 3;
      if (kills && !in_driver)
        wanted = {Fault::kill_before, 1 + static_cast<unsigned>(random() % 40)};
      const auto die = [] { raise(SIGKILL); };
      fake().binary.on_build = fake().il.on_build = fake().source.on_build =
          kills && in_driver ? std::function<void()>(die) : std::function<void()>();
      killed += start_with(wanted, *pack, machine.overlay, program).killed ? 1 : 0;
    }
    reset_fake();
    CHECK(killed > 150);
    for (const char *const program : {"p", "q", "r"}) {
      const Start start(*pack, machine.overlay, 0, program);
      CAPTURE(program);
      CHECK(start.load.rung() == (pack == &base ? KILN_RUNG_OVERLAY : KILN_RUNG_EXACT));
      CHECK_FALSE(has_quarantine(start));
    }
  }
}
