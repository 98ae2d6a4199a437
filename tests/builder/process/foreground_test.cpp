// SPDX-License-Identifier: Apache-2.0
// The user's own program.
#include "builder/process/foreground.hpp"

#include <csignal>

#include "builder/process/child_process.hpp"
#include "tests/support/catch.hpp"

namespace kiln::builder {
namespace {

ProcessExit run_shell(const std::string &script) {
  return run_foreground({"sh", "-c", script}, [] {});
}

}  // namespace

TEST_CASE("a program in the foreground ends by its code or its signal", "[foreground]") {
  const ProcessExit ended = run_shell("exit 3");
  CHECK(ended.end == ProcessEnd::exited);
  CHECK(ended.code == 3);
  const ProcessExit killed = run_shell("kill -9 $$");
  CHECK(killed.end == ProcessEnd::signalled);
  CHECK(killed.code == SIGKILL);
}

TEST_CASE("a program that cannot be executed gives errno", "[foreground]") {
  const ProcessExit missing = run_foreground({"/nowhere/program"}, [] {});
  CHECK(missing.end == ProcessEnd::not_started);
  CHECK(missing.code == ENOENT);
  CHECK(run_foreground({"/"}, [] {}).code == EACCES);
}

TEST_CASE("the terminal's signals do not end the parent, others are passed on", "[foreground]") {
  CHECK(run_shell("kill -INT $PPID; kill -QUIT $PPID; exit 4").code == 4);
  CHECK(run_shell("trap 'exit 5' TERM; kill -TERM $PPID; while :; do :; done").code == 5);
}

TEST_CASE("the parent's handlers are there again afterwards, and the program has none",
          "[foreground]") {
  struct sigaction ignored {
  }, after{};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  sigaction(SIGHUP, &ignored, &before);
  CHECK(run_shell("kill -HUP $$; exit 6").code == 6);  // a program inherits what is ignored
  sigaction(SIGHUP, &before, &after);
  CHECK(after.sa_handler == SIG_IGN);
  const ProcessExit dead = run_shell("kill -TERM $$");
  CHECK(dead.end == ProcessEnd::signalled);
}

TEST_CASE("the function runs in the child before the program", "[foreground]") {
  CHECK(run_foreground({"sh", "-c", "exit $KILN_CODE"}, [] { setenv("KILN_CODE", "7", 1); }).code ==
        7);
  CHECK(getenv("KILN_CODE") == nullptr);
}

TEST_CASE("the exit code of a program that exited is the parent's", "[foreground]") {
  CHECK(end_as({ProcessEnd::exited, 8}) == 8);
  const ProcessExit killed = run_foreground({"sh", "-c", "kill -KILL $$"}, [] {});
  const pid_t child = fork_child([&] { return end_as(killed); });
  CHECK(wait_for(child).end == ProcessEnd::signalled);
}

}  // namespace kiln::builder
