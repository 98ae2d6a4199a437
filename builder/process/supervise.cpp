// SPDX-License-Identifier: Apache-2.0
// Waits for signals, kills all descendants, and removes the temporary folder.
//
// A handler in the working process could use only async-signal-safe functions, in whatever state
// the process is, and could do nothing after a crash.
#include "builder/process/supervise.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "builder/base/this_process.hpp"
#include "builder/process/child_process.hpp"
#include "builder/process/temporary_folder.hpp"

namespace kiln::builder {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGrace{200};      // for clearing markers, see pass_on_interrupts()
constexpr milliseconds kPatience{2000};  // for processes that a device holds in the kernel

bool is_interrupt(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

// Makes orphaned descendants children of this process.
void adopt_orphans([[maybe_unused]] bool adopts) {
#ifdef __linux__
  prctl(PR_SET_CHILD_SUBREAPER, adopts ? 1 : 0);
#endif
}

// Returns the signals that a supervisor waits for, without ignored ones.
sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int interrupt : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(interrupt, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&set, interrupt);
  }
  return set;
}

class Supervisor {
 public:
  Supervisor(pid_t child, const sigset_t &signals) : child_(child), signals_(signals) {}

  // Waits until the child has ended or an interrupt comes. Returns the interrupt, or 0.
  int watch() {
    for (;;) {
      reap();
      if (status_) return 0;
      const int signal = sigwaitinfo(&signals_, nullptr);
      if (is_interrupt(signal)) return signal;
    }
  }

  // The child's wait status, once it has ended.
  std::optional<int> status() const { return status_; }

  // Gives the child time to end by itself.
  void interrupt_child() {
    kill(child_, SIGTERM);
    const Clock::time_point until = Clock::now() + kGrace;
    while (!status_ && reap() && Clock::now() < until) wait_for_child_signal();
  }

  // Kills all children. A killed process's own children become children of this process.
  void end_all() {
    const Clock::time_point until = Clock::now() + kPatience;
    do {
      for (const pid_t child : children_of(getpid())) kill(child, SIGKILL);
      wait_for_child_signal();
    } while (reap() && Clock::now() < until);
  }

 private:
  // Reaps ended children. Returns whether any children are still running.
  bool reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid <= 0) return pid == 0;
      if (pid == child_) status_ = status;
    }
  }

  // Waits for 10 ms at most.
  static void wait_for_child_signal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    const timespec time{0, 10'000'000};
    sigtimedwait(&set, nullptr, &time);
  }

  pid_t child_;
  sigset_t signals_;
  std::optional<int> status_;
};

// The child's exit code or signal, or an interrupt.
struct Ended {
  int code = 0;
  int signal = 0;
};

Ended run_supervisor(pid_t child, const sigset_t &signals) {
  Supervisor supervisor(child, signals);
  const int interrupt = supervisor.watch();
  if (interrupt != 0) supervisor.interrupt_child();
  const int status = supervisor.status().value_or(0);
  if (interrupt == 0 && WIFEXITED(status)) return {WEXITSTATUS(status), 0};
  supervisor.end_all();
  return {0, interrupt != 0 ? interrupt : WTERMSIG(status)};
}

}  // namespace

void supervise(const std::function<void()> &on_interrupt) {
  std::fflush(nullptr);
  TemporaryFolder::remove_abandoned();
  std::optional<TemporaryFolder>
      folder;  // without one, whoever needs a temporary folder reports the error
  if (auto made = TemporaryFolder::make(); made.ok()) folder.emplace(*std::move(made));
  const sigset_t signals = awaited_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  adopt_orphans(true);
  const pid_t supervisor = getpid();
  const pid_t child = fork();
  if (child > 0) {
    const Ended ended = run_supervisor(child, signals);
    folder.reset();
    if (is_interrupt(ended.signal)) on_interrupt();
    if (ended.signal != 0) die_of(ended.signal);
    _exit(ended.code);
  }
  if (child == 0) end_with(supervisor);
  if (child == 0 && folder) setenv("TMPDIR", folder->release().c_str(), 1);
  if (child < 0) adopt_orphans(false);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace kiln::builder
