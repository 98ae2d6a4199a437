// SPDX-License-Identifier: Apache-2.0
// The user's own program.
#include "builder/process/foreground.hpp"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

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

TEST_CASE("signals that a process sends are passed on", "[foreground]") {
  // Where a caller ignores them, as nohup does, no shell can trap them.
  for (const int number : {SIGINT, SIGQUIT, SIGHUP}) std::signal(number, SIG_DFL);
  for (const std::string signal : {"INT", "QUIT", "TERM", "HUP", "USR1", "USR2", "WINCH"}) {
    INFO(signal);
    CHECK(run_shell("trap 'exit 5' " + signal + "; kill -" + signal + " $PPID; while :; do :; done")
              .code == 5);
  }
}

TEST_CASE("the parent looks again and again, and ends the zombies of others", "[foreground]") {
  unsigned looks = 0;
  pid_t other = 0;
  const Meanwhile meanwhile = [&] {
    if (++looks == 1) other = fork_child([] { return 0; });
    return std::chrono::milliseconds(10);
  };
  const ProcessExit exit = run_foreground(
      {"sh", "-c", "kill -USR1 $PPID; sleep 0.3; exit 9"}, [] { std::signal(SIGUSR1, SIG_IGN); },
      &meanwhile);
  CHECK(exit.code == 9);
  CHECK(looks >= 2);
  REQUIRE(other > 0);
  CHECK(waitpid(other, nullptr, WNOHANG) == -1);
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGCHLD) == 0);
}

TEST_CASE("a program ends with its parent", "[foreground]") {
  Pipe pipe;
  REQUIRE(pipe.open() == 0);
  const pid_t parent = fork_child([&] {
    const int fd = dup(pipe.write.get());  // which the program inherits
    (void)run_foreground({"sleep", "60"}, [] {});
    return fd;
  });
  pipe.write.close();
  usleep(100'000);
  kill(parent, SIGKILL);
  CHECK(wait_for(parent).code == SIGKILL);
  char byte = 0;
  CHECK(read(pipe.read.get(), &byte, 1) == 0);  // the last holder is gone
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
