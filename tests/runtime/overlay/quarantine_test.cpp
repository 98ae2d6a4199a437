// SPDX-License-Identifier: Apache-2.0
// A driver that dies, hangs or silently recompiles is remembered by the next start.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  Fixture() { reset_fake(); }
  ~Fixture() { CHECK(fake().live == 0); }

  TemporaryFolder folder;
  fs::path overlay = folder.path() / "overlay";
  packs::Bytes pack = written(three_programs());
};

constexpr char kDied[] =
    "quarantined: an earlier process ended inside the driver while it was given this";

}  // namespace

TEST_CASE_METHOD(Fixture, "a driver's death quarantines the blob at the next start",
                 "[quarantine]") {
  dies_at_start(pack, overlay);
  CHECK(names_in(overlay, "a-").size() == 1);
  {
    const Start next(pack, overlay);
    CHECK(next.notices.text(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
    CHECK(next.load.reason(KILN_RUNG_EXACT) == kDied);
    CHECK(next.load.rung() == KILN_RUNG_IL);
    CHECK(next.load.json().find("\"outcome\": \"quarantined\"") != std::string::npos);
  }
  CHECK(names_in(overlay, "a-").empty());
  const Start later(pack, overlay);
  CHECK_FALSE(later.notices.has(KILN_NOTICE_DEATH));
  CHECK(later.load.rung() == KILN_RUNG_OVERLAY);
  const Start other(pack, overlay, 0, "q");
  CHECK(other.load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(Fixture, "a second blob that kills quarantines the rung", "[quarantine]") {
  dies_at_start(pack, overlay, "p");
  dies_at_start(pack, overlay, "q");
  const Start third(pack, overlay, 0, "r");
  CHECK(third.load.reason(KILN_RUNG_EXACT) ==
        "quarantined: the driver died on this rung with two programs");
  CHECK(third.load.rung() == KILN_RUNG_IL);
}

TEST_CASE_METHOD(Fixture, "one death with many threads in the driver leaves the rung to others",
                 "[quarantine]") {
  const int status = in_child([&] {
    std::atomic<unsigned> inside{0};
    fake().binary.on_build = [&] {
      if (++inside == 2) _exit(9);
      while (true) pause();
    };
    const std::string path = overlay.string();
    kiln_loader_options options = {};
    options.size = sizeof(options);
    options.overlay = path.c_str();
    const FakeLoad load(pack, KILN_LOAD_NO_BINARY, "r", nullptr, &options);
    const auto ask = [&](const char *program) {
      kiln_program *loaded = nullptr;
      kiln_load(load.loader, program, nullptr, 0, &loaded, nullptr, nullptr);
    };
    std::thread other(ask, "p");
    ask("q");
    other.join();
  });
  CHECK(WEXITSTATUS(status) == 9);
  for (const std::string &name : names_in(overlay, "e-")) fs::remove(overlay / name);
  for (const char *const program : {"p", "q"}) {
    CHECK(Start(pack, overlay, 0, program).load.reason(KILN_RUNG_EXACT) == kDied);
  }
  CHECK(Start(pack, overlay, 0, "r").load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(Fixture, "deaths go down the ladder until something works", "[quarantine]") {
  dies_at_start(pack, overlay);                              // exact
  for (int i = 0; i < 3; ++i) dies_at_start(pack, overlay);  // IL
  {
    const Start third(pack, overlay);
    CHECK(third.load.reason(KILN_RUNG_IL) == kDied);
    CHECK(third.load.rung() == KILN_RUNG_SOURCE);
  }
  TemporaryFolder fresh;
  overlay = fresh.path();
  for (int i = 0; i < 1 + 3 + 3; ++i) dies_at_start(pack, overlay);
  {
    const Start passed_over(pack, overlay);
    CHECK(passed_over.load.status == KILN_ERROR_NO_RUNG);
    CHECK(passed_over.load.reason(KILN_RUNG_SOURCE) == kDied);
  }
  CHECK(Start(pack, overlay).load.rung() == KILN_RUNG_SOURCE);
}

TEST_CASE_METHOD(Fixture, "interrupted compilations leave every program loadable", "[quarantine]") {
  const packs::Bytes base = written(without_targets(three_programs()));
  for (const char *const program : {"p", "q"}) {
    for (int i = 0; i < 2; ++i) dies_at_start(base, overlay, program, KILN_LOAD_NO_IL);
  }
  for (const char *const program : {"p", "q", "r"}) {
    CHECK(Start(base, overlay, KILN_LOAD_NO_IL, program).load.rung() == KILN_RUNG_SOURCE);
  }
}

TEST_CASE_METHOD(Fixture, "a success ends what was counted against a source", "[quarantine]") {
  const packs::Bytes base = written(without_targets(three_programs()));
  constexpr unsigned kFlags = KILN_LOAD_NO_IL | KILN_LOAD_NO_OVERLAY;
  for (int i = 0; i < 2; ++i) dies_at_start(base, overlay, "p", kFlags);
  CHECK(Start(base, overlay, kFlags).load.rung() == KILN_RUNG_SOURCE);
  CHECK(Start(base, overlay, kFlags).load.rung() == KILN_RUNG_SOURCE);
  CHECK(names_in(overlay, "a-").empty());
}

TEST_CASE_METHOD(Fixture, "the last rung is tried again at growing distances", "[quarantine]") {
  const packs::Bytes base = written(without_targets(three_programs()));
  std::string starts;
  for (int i = 0; i < 40; ++i) {
    const int status = in_child([&] {
      fake().source.on_build = [] { _exit(9); };
      const Start start(base, overlay, KILN_LOAD_NO_IL);
    });
    starts += WEXITSTATUS(status) == 9 ? 'x' : '.';
  }
  CHECK(starts == "xxx.x..x....x........x................x.");
}

TEST_CASE_METHOD(Fixture, "a driver that died when asked for its binary is not asked again",
                 "[quarantine]") {
  const packs::Bytes base = written(without_targets(three_programs()));
  const auto die = [] { _exit(9); };
  const auto dies_when_asked = [&](const char *program) {
    const int status = in_child([&] {
      fake().il.on_asked = die;
      const Start start(base, overlay, 0, program);
    });
    CHECK(WEXITSTATUS(status) == 9);
  };
  dies_when_asked("p");
  constexpr char kNotAsked[] =
      "the driver's binary was not stored in the overlay: the driver died or hung when it was "
      "asked for a binary";
  {
    const Start next(base, overlay);
    CHECK(next.load.rung() == KILN_RUNG_IL);
    CHECK(next.notices.text(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
    CHECK(next.notices.text(KILN_NOTICE_NOT_STORED) == kNotAsked);
  }
  dies_when_asked("q");  // one death says nothing of other programs, two do
  const Start third(base, overlay, 0, "r");
  CHECK(third.load.rung() == KILN_RUNG_IL);
  CHECK(third.notices.text(KILN_NOTICE_NOT_STORED) == kNotAsked);
}

TEST_CASE_METHOD(Fixture, "another driver starts without the old one's quarantine",
                 "[quarantine]") {
  packs::Bytes base = written(without_targets(three_programs()));
  for (int i = 0; i < 3; ++i) dies_at_start(base, overlay);
  fake().driver_version = "7.2";
  const Start updated(base, overlay);
  CHECK(updated.load.rung() == KILN_RUNG_IL);
  CHECK_FALSE(updated.notices.has(KILN_NOTICE_DEATH));
  fake().driver_version = "7.1";
  CHECK(Start(base, overlay).load.reason(KILN_RUNG_IL) == kDied);
}

TEST_CASE_METHOD(Fixture, "a process that ends outside of the driver is not a death",
                 "[quarantine]") {
  const int status = in_child([&] {
    const Start start(pack, overlay);
    _exit(start.load.rung() == KILN_RUNG_EXACT ? 4 : 5);  // no destructor: the marker stays
  });
  CHECK(WEXITSTATUS(status) == 4);
  CHECK(names_in(overlay, "a-").size() == 1);
  const Start next(pack, overlay);
  CHECK(next.load.rung() == KILN_RUNG_EXACT);
  CHECK_FALSE(next.notices.has(KILN_NOTICE_DEATH));
  CHECK(names_in(overlay, "a-").empty());
}

TEST_CASE_METHOD(Fixture, "a refusal in good order is no death, and is tried again",
                 "[quarantine]") {
  fake().binary.build_code = CL_INVALID_BINARY;
  { CHECK(Start(pack, overlay, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE).load.program == nullptr); }
  fake().binary.build_code = CL_SUCCESS;
  const Start next(pack, overlay);
  CHECK_FALSE(next.notices.has(KILN_NOTICE_DEATH));
  CHECK(next.load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(Fixture, "a blob that is refused once and kills later is seen to have killed",
                 "[quarantine]") {
  fake().binary.build_code = CL_OUT_OF_RESOURCES;
  { CHECK(Start(pack, overlay, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE).load.program == nullptr); }
  dies_at_start(pack, overlay);
  CHECK(Start(pack, overlay).load.reason(KILN_RUNG_EXACT) == kDied);
}

TEST_CASE_METHOD(Fixture, "a quarantined rung still gives what was proven on it", "[quarantine]") {
  { CHECK(Start(pack, overlay, 0, "r").load.rung() == KILN_RUNG_EXACT); }
  dies_at_start(pack, overlay, "p");
  dies_at_start(pack, overlay, "q");
  CHECK(Start(pack, overlay, 0, "p").load.reason(KILN_RUNG_EXACT) == kDied);
  CHECK(Start(pack, overlay, 0, "r").load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(Fixture, "clearing after a death ends the quarantine before it begins",
                 "[quarantine]") {
  dies_at_start(pack, overlay);
  REQUIRE(kiln_overlay_clear(overlay.c_str(), nullptr) == KILN_OK);
  CHECK(names_in(overlay, "").empty());
  CHECK(Start(pack, overlay).load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(Fixture, "a forked child that releases its loader leaves the parent's marker",
                 "[quarantine]") {
  auto parent = std::make_unique<Start>(pack, overlay);
  REQUIRE(names_in(overlay, "a-").size() == 1);
  in_child([&] { parent.reset(); });
  CHECK(names_in(overlay, "a-").size() == 1);
}

TEST_CASE_METHOD(Fixture, "other files of the folder are left alone", "[quarantine]") {
  { const Start start(pack, overlay); }
  for (const char *name : {"a-icon.png", "e-mail", "d-day", "temporary-file"}) {
    folder.write(fs::path("overlay") / name, "mine");
  }
  { const Start start(pack, overlay, KILN_LOAD_NO_BINARY, "q"); }
  REQUIRE(kiln_overlay_clear(overlay.c_str(), nullptr) == KILN_OK);
  CHECK(names_in(overlay, "") ==
        std::vector<std::string>{"a-icon.png", "d-day", "e-mail", "temporary-file"});
}

TEST_CASE_METHOD(Fixture, "what a process hangs on past its deadline is passed over meanwhile",
                 "[quarantine]") {
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  const pid_t child = fork();
  if (child == 0) {
    fake().binary.on_build = [&] {
      (void)!write(pipes[1], "x", 1);
      while (true) pause();
    };
    const Start start(pack, overlay, 0, "p", 1);
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(pipes[0], &byte, 1) == 1);
  // The deadline of a millisecond may not have passed at once.
  std::string reason;
  for (int i = 0; i < 1000 && reason != "quarantined"; ++i) {
    const Start next(pack, overlay, KILN_LOAD_NO_BINARY);
    if (next.notices.has(KILN_NOTICE_DEATH)) {
      CHECK(next.notices.text(KILN_NOTICE_DEATH) ==
            "a process has been in the driver for longer than its deadline");
      reason = "quarantined";
    }
  }
  CHECK(reason == "quarantined");
  for (const std::string &name : names_in(overlay, "e-")) fs::remove(overlay / name);
  {
    const Start next(pack, overlay);
    CHECK(next.load.reason(KILN_RUNG_EXACT) ==
          "quarantined: a process has been in the driver for longer than its deadline");
  }
  CHECK(names_in(overlay, "a-").size() == 1);  // the living process's
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  close(pipes[0]);
  close(pipes[1]);
}

TEST_CASE_METHOD(Fixture, "a living process in the driver is left alone without a deadline",
                 "[quarantine]") {
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  const pid_t child = fork();
  if (child == 0) {
    fake().binary.on_build = [&] {
      (void)!write(pipes[1], "x", 1);
      while (true) pause();
    };
    const Start start(pack, overlay);
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(pipes[0], &byte, 1) == 1);
  CHECK(Start(pack, overlay).load.rung() == KILN_RUNG_EXACT);
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  // It was killed inside the driver; but the other process has proven the blob meanwhile.
  CHECK(Start(pack, overlay).load.rung() == KILN_RUNG_EXACT);
  close(pipes[0]);
  close(pipes[1]);
}

TEST_CASE_METHOD(Fixture, "a load that comes back after its deadline is a success",
                 "[quarantine]") {
  fake().binary.on_build = [] {  // works for longer than the deadline of a millisecond
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(2)) continue;
  };
  {
    const Start slow(pack, overlay, 0, "p", 1);
    CHECK(slow.load.rung() == KILN_RUNG_EXACT);
  }
  CHECK(Start(pack, overlay, 0, "p", 1).load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(Fixture, "a silent recompilation is reported, remembered and healed",
                 "[quarantine]") {
  fake().binary.binary = "newly compiled";
  {
    const Start first(pack, overlay);
    CHECK(first.load.rung() == KILN_RUNG_EXACT);
    CHECK(first.load.json().find("\"recompiled\": true") != std::string::npos);
    CHECK(first.notices.has(KILN_NOTICE_RECOMPILED));
    CHECK(first.notices.has(KILN_NOTICE_STORED));
  }
  {
    const Start second(pack, overlay);
    CHECK(second.load.rung() == KILN_RUNG_OVERLAY);
    CHECK(second.load.json().find("\"recompiled\": false") != std::string::npos);
    CHECK_FALSE(second.notices.has(KILN_NOTICE_STORED));
  }
  for (const std::string &name : names_in(overlay, "e-")) fs::remove(overlay / name);
  fake().binary.binary = "the binary";  // not asked: the answer is remembered
  const Start third(pack, overlay);
  CHECK(third.load.rung() == KILN_RUNG_EXACT);
  CHECK(third.load.json().find("\"recompiled\": true") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a driver that never gives back what it got is healed once",
                 "[quarantine]") {
  int round = 0;
  unsigned stored = 0;
  fake().binary.on_build = [&] { fake().binary.binary = "binary " + std::to_string(round); };
  for (round = 0; round < 5; ++round) {
    const Start start(pack, overlay);
    stored += start.notices.has(KILN_NOTICE_STORED) ? 1 : 0;
    CHECK(start.load.json().find("\"recompiled\": true") != std::string::npos);
  }
  CHECK(stored == 2);  // one for the pack's binary, one for the overlay's
}

TEST_CASE_METHOD(Fixture, "a damaged journal is no journal, whatever is left of it",
                 "[quarantine]") {
  dies_at_start(pack, overlay);
  { const Start start(pack, overlay); }
  const auto names = names_in(overlay, "d-");
  REQUIRE(names.size() == 1);
  const std::string good = contents_of(overlay / names[0]);
  for (std::size_t size = 0; size < good.size(); ++size) {
    std::ofstream(overlay / names[0], std::ios::binary) << good.substr(0, size);
    for (const std::string &name : names_in(overlay, "e-")) fs::remove(overlay / name);
    const Start start(pack, overlay);
    CHECK(start.load.status == KILN_OK);
    // What died is known as long as its record is whole.
    const bool known = start.load.reason(KILN_RUNG_EXACT) == kDied;
    CHECK((known || start.load.rung() == KILN_RUNG_EXACT));
    if (size < 256) CHECK_FALSE(known);
  }
  std::ofstream(overlay / names[0], std::ios::binary) << std::string(100'000, '\x7f');
  CHECK(Start(pack, overlay, KILN_LOAD_NO_IL).load.status == KILN_OK);
  // Started anew, with whole records.
  CHECK(fs::file_size(overlay / names[0]) % 16 == 0);
  CHECK(fs::file_size(overlay / names[0]) < 1000);
}
