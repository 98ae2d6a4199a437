// SPDX-License-Identifier: Apache-2.0
// Which ends of a process count as a death inside the driver, and what a hanging one costs others.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;
namespace fs = std::filesystem;

namespace {

// A process that stays inside clBuildProgram until it is killed.
class Hanging {
 public:
  Hanging(const packs::Bytes &pack, const fs::path &overlay, std::uint32_t deadline = 0) {
    int pipes[2];
    REQUIRE(pipe(pipes) == 0);
    child_ = fork();
    if (child_ == 0) {
      fake().binary.on_build = [&] {
        (void)!write(pipes[1], "x", 1);
        while (true) pause();
      };
      const Start start(pack, overlay, 0, "p", deadline);
      _exit(0);
    }
    close(pipes[1]);
    char byte = 0;
    const bool inside = read(pipes[0], &byte, 1) == 1;
    close(pipes[0]);
    REQUIRE(inside);
  }
  Hanging(const Hanging &) = delete;
  Hanging &operator=(const Hanging &) = delete;
  ~Hanging() { end(); }

  void kill() const { ::kill(child_, SIGKILL); }
  void end() {
    if (child_ == 0) return;
    kill();
    CHECK(waitpid(child_, nullptr, 0) == child_);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
};

}  // namespace

TEST_CASE_METHOD(OverlayFixture, "a process that ends outside of the driver is not a death",
                 "[ending]") {
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

TEST_CASE_METHOD(OverlayFixture,
                 "a forked child that releases its loader leaves the parent's marker", "[ending]") {
  auto parent = std::make_unique<Start>(pack, overlay);
  REQUIRE(names_in(overlay, "a-").size() == 1);
  in_child([&] { parent.reset(); });
  CHECK(names_in(overlay, "a-").size() == 1);
}

TEST_CASE_METHOD(OverlayFixture,
                 "what a process hangs on past its deadline is passed over meanwhile", "[ending]") {
  const Hanging child(pack, overlay, 1);
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
}

TEST_CASE_METHOD(OverlayFixture, "a living process in the driver is left alone without a deadline",
                 "[ending]") {
  Hanging child(pack, overlay);
  CHECK(Start(pack, overlay).load.rung() == KILN_RUNG_EXACT);
  child.end();
  // It was killed inside the driver; but the other process has proven the blob meanwhile.
  CHECK(Start(pack, overlay).load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(OverlayFixture, "a load that comes back after its deadline is a success",
                 "[ending]") {
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

// Ways to end while a thread is in the driver, and whether that is a death.
TEST_CASE_METHOD(OverlayFixture, "a process that ends on purpose leaves no deaths", "[ending]") {
  struct Way {
    const char *name;
    void (*end)();   // on the main thread, while another one is in the driver
    bool in_driver;  // end() is called from inside of the driver instead
    bool death;
  };
  const Way ways[] = {
      {"exit", [] { std::exit(0); }, false, false},
      {"_exit", [] { _exit(0); }, false, true},
      {"kill", [] { raise(SIGKILL); }, false, true},
      {"kiln_process_ending, then _exit",
       [] {
         kiln_process_ending();
         _exit(0);
       },
       false, false},
      {"exit by the driver itself", [] { std::exit(0); }, true, true},
      {"the application's handler of SIGTERM",
       [] {
         signal(SIGTERM, [](int) {
           kiln_process_ending();
           _exit(0);
         });
         raise(SIGTERM);
       },
       true, false},
  };
  for (const Way &way : ways) {
    CAPTURE(way.name);
    const TemporaryFolder fresh;
    overlay = fresh.path();
    in_child([&] {
      std::atomic<bool> inside{false};
      fake().binary.on_build = [&] {
        inside = true;
        if (way.in_driver) way.end();
        while (true) pause();
      };
      std::thread([&] { const Start start(pack, overlay); }).detach();
      while (!inside || way.in_driver) std::this_thread::yield();
      way.end();
    });
    const Start next(pack, overlay);
    CHECK(next.notices.has(KILN_NOTICE_DEATH) == way.death);
    CHECK(next.load.rung() == KILN_RUNG_EXACT);
  }
}

TEST_CASE_METHOD(OverlayFixture, "processes that are ended together are one death", "[ending]") {
  {
    const Hanging children[] = {{pack, overlay}, {pack, overlay}, {pack, overlay}, {pack, overlay}};
    for (const Hanging &child : children) child.kill();
  }
  CHECK(names_in(overlay, "a-").size() == 4);
  CHECK(Start(pack, overlay).load.rung() == KILN_RUNG_EXACT);
}
