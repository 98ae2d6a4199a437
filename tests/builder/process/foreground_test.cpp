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

TEST_CASE("all signals that a process sends are passed on", "[foreground]") {
  constexpr int kOfGlibc = 32;  // and 33
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP || signal / 2 == kOfGlibc / 2) continue;
    INFO(signal);
    const pid_t parent = fork_child([&] {
      // Where a caller ignores a signal, as nohup does, no shell can trap it.
      std::signal(signal, SIG_DFL);
      const std::string number = std::to_string(signal);
      return run_shell("trap 'exit 5' " + number + "; kill -" + number +
                       " $PPID; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; done")
          .code;
    });
    CHECK(wait_for(parent).code == 5);
  }
}

TEST_CASE("sends a value to its parent", "[.value]") {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  sigval value{};
  value.sival_int = 42;
  sigqueue(getppid(), SIGRTMIN, value);
  siginfo_t info{};
  const timespec patience{5, 0};
  _exit(sigtimedwait(&set, &info, &patience) > 0 ? info.si_value.sival_int : 1);
}

TEST_CASE("a signal's value is passed on", "[foreground]") {
  const pid_t parent = fork_child([] {
    return run_foreground({"/proc/self/exe", "[.value]"}, [] {}).code;
  });
  CHECK(wait_for(parent).code == 42);
}

TEST_CASE("a timer that was set before the parent began reaches the program", "[foreground]") {
  const pid_t parent = fork_child([] {
    alarm(1);
    return run_shell("trap 'exit 5' ALRM; for i in 1 2 3 4 5 6; do sleep 0.5; done").code;
  });
  CHECK(wait_for(parent).code == 5);
}

TEST_CASE("a failed write of the parent sends the program nothing", "[foreground]") {
  Pipe closed;
  REQUIRE(closed.open() == 0);
  closed.read.close();
  const Meanwhile meanwhile = [&] {
    (void)!write(closed.write.get(), "", 1);
    return std::chrono::milliseconds(10);
  };
  CHECK(run_foreground(
            {"sh", "-c", "sleep 0.3; exit 9"}, [] { std::signal(SIGPIPE, SIG_DFL); }, &meanwhile)
            .code == 9);
}

TEST_CASE("the parent stops when the program stops, and continues it", "[foreground]") {
  for (const std::string signal : {"STOP", "TSTP"}) {
    INFO(signal);
    const pid_t parent = fork_child([&] {
      setpgid(0, 0);  // a group that this process keeps from being orphaned
      unsigned looks = 0;
      const Meanwhile meanwhile = [&looks] {
        if (++looks > 300) _exit(99);
        return std::chrono::milliseconds(10);
      };
      return run_foreground(
                 {"sh", "-c", "kill -" + signal + " $$; exit 4"}, [] {}, &meanwhile)
          .code;
    });
    int status = 0;
    REQUIRE(waitpid(parent, &status, WUNTRACED) == parent);
    REQUIRE(WIFSTOPPED(status));
    kill(parent, SIGCONT);
    CHECK(wait_for(parent).code == 4);
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

TEST_CASE("a program inherits that the signal of a child's end is ignored", "[foreground]") {
  const pid_t parent = fork_child([] {
    std::signal(SIGCHLD, SIG_IGN);
    prepare_signals();
    return run_foreground({"grep", "-q", "SigIgn:.*[13579bdf]....$", "/proc/self/status"},
                          restore_signals)
        .code;
  });
  CHECK(wait_for(parent).code == 0);
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
  const pid_t blocks = fork_child([] {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    return end_as({ProcessEnd::signalled, SIGTERM});
  });
  CHECK(wait_for(blocks).end == ProcessEnd::signalled);
}

}  // namespace kiln::builder
