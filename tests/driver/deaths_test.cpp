// SPDX-License-Identifier: Apache-2.0
// A driver that dies or hangs inside any call of a load: the next start works, says why, and
// the one after it is fast.
#include <csignal>
#include <functional>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder/machine/opened_device.hpp"
#include "builder/process/serving_child.hpp"
#include "builder/run/run_program.hpp"
#include "tests/driver/ladder.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::ProcessEnd;

namespace {

constexpr char kDied[] = "an earlier process ended inside the driver while it was given this";
constexpr char kNoticed[] = "an earlier process ended inside the driver";
constexpr char kNotAsked[] =
    "not stored in the overlay: the driver died or hung when it was asked for a binary";

bool died_as(const builder::ChildResult &child, const std::string &way) {
  if (way == "exit") return child.end == ProcessEnd::exited && child.code == 1;
  return child.end == ProcessEnd::signalled && child.code == (way == "segv" ? SIGSEGV : SIGABRT);
}

// A start of the application that hangs inside the driver. The driver's log is a pipe here: a
// line of it means that the call has begun.
class Hanging {
 public:
  Hanging(const std::string &call, const std::string &pack, const StartOptions &options)
      : Hanging(call, [&] { load_and_launch(pack, options); }) {}
  Hanging(const std::string &call, const std::function<void()> &work) {
    const std::string log = machine().driver().path("calls");
    ::unlink(log.c_str());
    REQUIRE(::mkfifo(log.c_str(), 0600) == 0);
    const int lines = ::open(log.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(lines >= 0);
    machine().rewrite(fault(call, "hang", "form = \"binary\""));
    child_ = ::fork();
    if (child_ == 0) {
      machine().driver().use();
      work();
      ::_exit(0);
    }
    const std::string line = " " + call + " binary ";
    std::string text;
    for (char byte = 0; !holds(text, line) && ::read(lines, &byte, 1) == 1;) text += byte;
    ::close(lines);
    ::unlink(log.c_str());
    CHECK(::waitpid(child_, nullptr, WNOHANG) == 0);
  }
  Hanging(const Hanging &) = delete;
  Hanging &operator=(const Hanging &) = delete;
  ~Hanging() { end(); }

  void end(int signal = SIGKILL) {
    if (child_ <= 0) return;
    ::kill(child_, signal);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

 private:
  pid_t child_ = -1;
};

// The starts after a death: the second works and says why, the third finds the overlay and
// writes nothing.
void check_recovery(const std::string &rest, const std::string &pack, const StartOptions &options,
                    const std::string &failed, const std::string &rung) {
  const Start second = machine().start_with(rest, pack, options);
  INFO("second: " << second.child.reason() << second.report);
  CHECK(second.outcome(failed) == "quarantined");
  CHECK(second.reason(failed) == kDied);
  CHECK(second.rung == rung);
  CHECK(second.right);
  CHECK(second.notice(KILN_NOTICE_DEATH) == kNoticed);
  const std::string before = snapshot(options.overlay);
  const Start third = machine().start_with(rest, pack, options);
  INFO("third: " << third.child.reason() << third.report);
  CHECK(third.rung == "overlay");
  CHECK(third.right);
  CHECK(third.notice(KILN_NOTICE_DEATH) == "-");
  // The entry is proven by this start, which is written down; from then on nothing is.
  const std::string proven = snapshot(options.overlay);
  CHECK(proven != before);
  CHECK(machine().start_with(rest, pack, options).rung == "overlay");
  CHECK(snapshot(options.overlay) == proven);
}

}  // namespace

TEST_CASE("a driver that dies at any call on the pack's binary is passed over from then on") {
  KILN_NEEDS_POCL();
  const struct {
    const char *call;
    const char *way;
  } rows[] = {{"clCreateProgramWithBinary", "segv"},
              {"clCreateProgramWithBinary", "abort"},
              {"clCreateProgramWithBinary", "exit"},
              {"clBuildProgram", "segv"},
              {"clBuildProgram", "abort"},
              {"clBuildProgram", "exit"},
              {"clCreateKernel", "segv"},
              {"clGetKernelInfo", "abort"},
              {"clGetProgramBuildInfo", "exit"}};
  for (const auto &row : rows) {
    const StartOptions options = with(machine().new_overlay());
    const std::string death = fault(row.call, row.way, "form = \"binary\"\n");
    for (int i = 0; i < 2; ++i) {
      const Start first = machine().start_with(death, machine().full(), options);
      INFO(row.call << " " << row.way << ": " << first.child.reason());
      CHECK(died_as(first.child, row.way));
    }
    check_recovery("", machine().full(), options, "exact", "il");
  }
}

TEST_CASE("a driver that dies at any call on IL is given the source from then on") {
  KILN_NEEDS_POCL();
  const struct {
    const char *call;
    const char *way;
  } rows[] = {
      {"clCreateProgramWithIL", "segv"}, {"clBuildProgram", "abort"}, {"clCreateKernel", "exit"}};
  for (const auto &row : rows) {
    const StartOptions options = with(machine().new_overlay());
    const std::string death = fault(row.call, row.way, "form = \"il\"\n");
    const Start first = machine().start_with(death, machine().base(), options);
    INFO(row.call << " " << row.way << ": " << first.child.reason());
    CHECK(died_as(first.child, row.way));
    for (int i = 0; i < 2; ++i) {
      CHECK(died_as(machine().start_with(death, machine().base(), options).child, row.way));
    }
    check_recovery(death, machine().base(), options, "il", "source");
  }
}

TEST_CASE("a driver that dies on the last rung leaves an error in place of every other death") {
  KILN_NEEDS_POCL();
  const struct {
    const char *call;
    const char *way;
  } rows[] = {{"clCreateProgramWithSource", "exit"},
              {"clBuildProgram", "segv"},
              {"clCreateKernel", "abort"}};
  for (const auto &row : rows) {
    const StartOptions options = with(machine().new_overlay(), KILN_LOAD_NO_IL);
    const std::string death = fault(row.call, row.way, "form = \"source\"\n");
    const Start first = machine().start_with(death, machine().base(), options);
    INFO(row.call << " " << row.way << ": " << first.child.reason());
    CHECK(died_as(first.child, row.way));
    for (int i = 0; i < 2; ++i) {
      CHECK(died_as(machine().start_with(death, machine().base(), options).child, row.way));
    }
    const Start second = machine().start_with(death, machine().base(), options);
    INFO("second: " << second.child.reason() << second.report);
    CHECK(second.rung == "error");
    CHECK(second.reason("source") == kDied);
    CHECK(holds(second.error, kDied));
    CHECK(second.notice(KILN_NOTICE_DEATH) == kNoticed);
    CHECK(machine().start_with("", machine().base(), options).rung == "source");
  }
}

TEST_CASE("deaths go down the ladder start by start, until a rung computes") {
  KILN_NEEDS_POCL();
  const StartOptions options = with(machine().new_overlay());
  const std::string death = fault("clBuildProgram", "segv", "form = \"binary\"") +
                            fault("clBuildProgram", "exit", "form = \"il\"");
  for (int i = 0; i < 2; ++i) {
    CHECK(died_as(machine().start_with(death, machine().full(), options).child, "segv"));
  }
  for (int i = 0; i < 3; ++i) {
    CHECK(died_as(machine().start_with(death, machine().full(), options).child, "exit"));
  }
  const Start third = machine().start_with(death, machine().full(), options);
  INFO(third.child.reason() << third.report);
  CHECK(third.reason("exact") == kDied);
  CHECK(third.reason("il") == kDied);
  CHECK(third.rung == "source");
  CHECK(third.right);
}

TEST_CASE("a driver that dies when its binary is wanted computes without being asked again") {
  KILN_NEEDS_POCL();
  const struct {
    const char *form;
    unsigned flags;
    const char *rung;
    bool binary;  // which is not compared, and not stored
  } rows[] = {{"form = \"binary\"\n", 0, "exact", true},
              {"form = \"il\"\n", KILN_LOAD_NO_BINARY, "il", false},
              {"form = \"source\"\n", KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL, "source", false}};
  for (const auto &row : rows) {
    const StartOptions options = with(machine().new_overlay(), row.flags);
    const std::string death = fault("clGetProgramInfo", "segv", row.form);
    for (int i = 0; i < 2; ++i) {
      const Start first = machine().start_with(death, machine().full(), options);
      INFO(row.rung << ": " << first.child.reason());
      CHECK(died_as(first.child, "segv"));
    }
    const Start second = machine().start_with(death, machine().full(), options);
    INFO("second: " << second.child.reason() << second.report);
    CHECK(second.rung == row.rung);
    CHECK(second.right);
    CHECK(second.notice(KILN_NOTICE_DEATH) == kNoticed);
    CHECK(second.has_note(kNotAsked) == !row.binary);
    const std::string before = snapshot(options.overlay, false);
    const Start third = machine().start_with(death, machine().full(), options);
    CHECK(third.rung == row.rung);
    CHECK(third.right);
    CHECK(third.has_note(kNotAsked) == !row.binary);
    CHECK(snapshot(options.overlay, false) == before);
  }
}

TEST_CASE("a driver that dies over an entry of the overlay gets a new one in its place") {
  KILN_NEEDS_POCL();
  const struct {
    const char *call;
    const char *way;
  } rows[] = {{"clCreateProgramWithBinary", "abort"},
              {"clBuildProgram", "exit"},
              {"clCreateKernel", "segv"}};
  for (const auto &row : rows) {
    const StartOptions options = with(machine().new_overlay());
    REQUIRE(machine().start_with("", machine().base(), options).rung == "il");
    const std::string death = fault(row.call, row.way, "form = \"binary\"\n");
    for (int i = 0; i < 2; ++i) {
      const Start first = machine().start_with(death, machine().base(), options);
      INFO(row.call << " " << row.way << ": " << first.child.reason());
      CHECK(died_as(first.child, row.way));
    }
    // The driver's binary is another one now; the same again would be as deadly.
    const std::string other = "[platform.device.binary]\nrevision = 1\n";
    check_recovery(other, machine().base(), options, "overlay", "il");
    CHECK(entries_in(options.overlay) == 1);
  }
}

TEST_CASE("an entry that killed the driver is not stored once more") {
  KILN_NEEDS_POCL();
  const StartOptions options = with(machine().new_overlay());
  REQUIRE(machine().start_with("", machine().base(), options).rung == "il");
  const std::string death = fault("clBuildProgram", "segv", "form = \"binary\"\n");
  for (int i = 0; i < 2; ++i) {
    CHECK(died_as(machine().start_with(death, machine().base(), options).child, "segv"));
  }
  std::string before;
  for (int i = 0; i < 2; ++i) {
    const Start later = machine().start_with(death, machine().base(), options);
    INFO(later.child.reason() << later.report);
    CHECK(later.reason("overlay") == kDied);
    CHECK(later.rung == "il");
    CHECK(later.right);
    CHECK(
        later.has_note("not stored in the overlay: "
                       "an earlier process ended inside the driver while it was given this"));
    if (i == 1) CHECK(snapshot(options.overlay, false) == before);
    before = snapshot(options.overlay, false);
  }
}

TEST_CASE("a driver that dies when a program is built again is not asked to finish it any more") {
  KILN_NEEDS_POCL();
  // PoCL is recognised by this version. The program is loaded from IL, and built again from source.
  const auto as_pocl = [](const std::string &rest) {
    std::string script = computing_device("il = \"SPIR-V_1.0\"\n" + rest);
    const std::string plain = "OpenCL 3.0 scripted";
    script.replace(script.find(plain), plain.size(), "OpenCL 3.0 PoCL HSTR: scripted");
    return script;
  };
  const auto start_with = [&](const std::string &rest, const StartOptions &options) {
    machine().driver().rewrite(as_pocl(rest));
    return start(machine().driver(), machine().base(), options);
  };
  StartOptions healthy = with(machine().new_overlay());
  healthy.finish = true;
  CHECK(start_with("", healthy).notice(KILN_NOTICE_NOT_STORED) == "-");
  CHECK(holds(start_with("", healthy).report, "\"final\": true"));
  const struct {
    const char *call;
    const char *way;
    const char *rung = "overlay";  // at last, since the plain binary is stored then
  } rows[] = {
      {"clCreateProgramWithSource", "exit"},
      {"clBuildProgram", "segv"},
      {"clCreateKernel", "abort"},
      {"clGetProgramInfo", "segv", "il"}};  // it is not asked for any binary of this program
  for (const auto &row : rows) {
    StartOptions options = with(machine().new_overlay());
    options.finish = true;
    const std::string death = fault(row.call, row.way, "form = \"source\"\n");
    for (int i = 0; i < 2; ++i) {
      const Start first = start_with(death, options);
      INFO(row.call << " " << row.way << ": " << first.child.reason());
      CHECK(died_as(first.child, row.way));
    }
    for (const char *const noticed : {kNoticed, "-"}) {
      const Start later = start_with(death, options);
      INFO(row.call << " later: " << later.child.reason() << later.report);
      REQUIRE(later.child.ok());
      CHECK(later.rung == (noticed == kNoticed ? "il" : row.rung));
      CHECK(later.right);
      CHECK(later.notice(KILN_NOTICE_DEATH) == noticed);
      CHECK(
          later.notice(KILN_NOTICE_NOT_STORED) ==
          "the binary was not finished for the overlay: the driver died or hung when it built the "
          "program again");
    }
  }
}

TEST_CASE("an application that is killed while its driver hangs counts as a death") {
  KILN_NEEDS_POCL();
  for (const char *const call : {"clCreateProgramWithBinary", "clBuildProgram", "clCreateKernel"}) {
    const StartOptions options = with(machine().new_overlay());
    INFO(call);
    for (int i = 0; i < 2; ++i) Hanging(call, machine().full(), options).end();
    check_recovery("", machine().full(), options, "exact", "il");
  }
}

TEST_CASE("a command that is interrupted while its driver hangs leaves no death") {
  KILN_NEEDS_POCL();
  // The process in the driver is the command's child: it is waited for here, too.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  for (const int interrupt : {0, SIGINT, SIGTERM, SIGHUP}) {  // 0: killed, which is a death
    INFO(interrupt);
    const StartOptions options = with(machine().new_overlay());
    Hanging command("clBuildProgram", [&] {
      ::signal(SIGHUP, SIG_DFL);  // which nohup ignores
      builder::pass_on_interrupts();
      builder::RunRequest request;
      request.pack_path = machine().full();
      request.device = builder::list_devices()->at(0);
      request.program = "triple";
      request.overlay = options.overlay;
      (void)builder::run_program(request);
    });
    CHECK_FALSE(std::filesystem::is_empty(options.overlay));  // the marker
    command.end(interrupt == 0 ? SIGKILL : interrupt);
    while (::wait(nullptr) > 0) continue;
    const Start next = machine().start_with("", machine().full(), options);
    CHECK(next.notice(KILN_NOTICE_DEATH) == (interrupt == 0 ? kNoticed : "-"));
    CHECK(next.rung == "exact");
  }
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
}

TEST_CASE("a process that hangs past its deadline is seen by others while it lives") {
  KILN_NEEDS_POCL();
  StartOptions impatient = with(machine().new_overlay());
  impatient.deadline = 1;  // long past when another process is up
  Hanging hanging("clBuildProgram", machine().full(), impatient);
  const StartOptions options = with(impatient.overlay);
  const Start second = machine().start_with("", machine().full(), options);
  INFO(second.child.reason() << second.report);
  const std::string noticed = "a process has been in the driver for longer than its deadline";
  CHECK(second.reason("exact") == noticed);
  CHECK(second.rung == "il");
  CHECK(second.right);
  CHECK(second.notice(KILN_NOTICE_DEATH) == noticed);
  hanging.end();
  const Start third = machine().start_with("", machine().full(), options);
  CHECK(third.rung == "overlay");
  CHECK(third.right);
  CHECK(third.notice(KILN_NOTICE_DEATH) == kNoticed);  // now it has died
}

TEST_CASE("a process that hangs without a deadline is left alone while it lives") {
  KILN_NEEDS_POCL();
  const StartOptions options = with(machine().new_overlay());
  const Hanging hanging("clBuildProgram", machine().full(), options);
  const Start second = machine().start_with("", machine().full(), options);
  INFO(second.child.reason() << second.report);
  CHECK(second.rung == "exact");
  CHECK(second.right);
  CHECK(second.notice(KILN_NOTICE_DEATH) == "-");
}
