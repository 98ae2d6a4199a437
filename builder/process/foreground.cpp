// SPDX-License-Identifier: Apache-2.0
// Forks, executes, waits, and passes signals on.
#include "builder/process/foreground.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>

#include <sys/wait.h>
#include <unistd.h>

#include "builder/process/child_process.hpp"
#include "builder/process/serving_child.hpp"

namespace kiln::builder {
namespace {

using Clock = std::chrono::steady_clock;

using Handler = void (*)(int);

// The handlers with which this process was started.
Handler pipe_handler = SIG_DFL;
Handler file_size_handler = SIG_DFL;
Handler child_handler = SIG_DFL;

// Passes a signal on to the program if another process sent it. Not passed on: a terminal's, which
// it sends to the program, too; a failed write's, which is this process's own. SIGALRM is passed on
// in any case: the timer may have been set before this process executed kiln.
void pass_on(const siginfo_t &info, pid_t program) {
  const bool is_sent = info.si_code <= 0 && info.si_pid != getpid();
  if (!is_sent && info.si_signo != SIGALRM) return;
  info.si_code == SI_QUEUE ? sigqueue(program, info.si_signo, info.si_value)
                           : kill(program, info.si_signo);
}

// Waits for the program's end, stops when it stops, passes signals on, and looks meanwhile.
// All signals are blocked.
ProcessExit wait_and_pass_on(pid_t child, const sigset_t &signals, const Meanwhile *meanwhile) {
  Clock::time_point due = Clock::now();
  for (;;) {
    int status = 0;
    const pid_t found = waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (found == child && !WIFSTOPPED(status)) return exit_of(status);
    if (found == child) raise(SIGSTOP);
    if (found > 0) continue;
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(due - Clock::now());
    if (left.count() <= 0) {
      due = Clock::now() + (meanwhile != nullptr ? (*meanwhile)() : std::chrono::minutes(1));
      continue;
    }
    constexpr std::int64_t kSecond = 1'000'000'000;
    const timespec pause{static_cast<time_t>(left.count() / kSecond),
                         static_cast<long>(left.count() % kSecond)};
    siginfo_t info{};
    if (sigtimedwait(&signals, &info, &pause) > 0) pass_on(info, child);
  }
}

}  // namespace

void prepare_signals() {
  pipe_handler = std::signal(SIGPIPE, SIG_IGN);
  file_size_handler = std::signal(SIGXFSZ, SIG_IGN);
  child_handler = std::signal(SIGCHLD, SIG_DFL);
  pass_on_interrupts();
}

void restore_signals() {
  std::signal(SIGPIPE, pipe_handler);
  std::signal(SIGXFSZ, file_size_handler);
  std::signal(SIGCHLD, child_handler);
}

ProcessExit run_foreground(const std::vector<std::string> &command,
                           const std::function<void()> &in_child, const Meanwhile *meanwhile) {
  std::vector<char *> words;
  for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  Pipe failure;  // closed by a successful execution
  if (const int error = failure.open(); error != 0) return {ProcessEnd::not_started, error};
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t child = fork_child([&] {
    in_child();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    execvp(words[0], words.data());
    const int error = errno;
    (void)packs::write_all(failure.write.get(),
                           {reinterpret_cast<const std::uint8_t *>(&error), sizeof(error)});
    return 127;
  });
  int error = errno;
  ProcessExit exit{ProcessEnd::not_started, error};
  if (child > 0) {
    failure.write.close();
    const ssize_t bytes_read =
        packs::uninterrupted([&] { return read(failure.read.get(), &error, sizeof(error)); });
    exit = wait_and_pass_on(child, all, meanwhile);
    if (bytes_read == static_cast<ssize_t>(sizeof(error))) exit = {ProcessEnd::not_started, error};
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return exit;
}

int end_as(const ProcessExit &exit) {
  if (exit.end == ProcessEnd::signalled) die_of(exit.code);
  return exit.code;
}

}  // namespace kiln::builder
