// SPDX-License-Identifier: Apache-2.0
// Forks, executes, waits, and passes signals on.
#include "builder/process/foreground.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder/process/child_process.hpp"
#include "builder/process/serving_child.hpp"

namespace kiln::builder {
namespace {

using Clock = std::chrono::steady_clock;

volatile sig_atomic_t foreground = 0;  // the program's process; 0: not started yet

// A terminal sends its signals to the program, too: they are not sent by a process.
extern "C" void pass_on_to_foreground(int signal, siginfo_t *info, void *) {
  if (foreground != 0 && info->si_code <= 0) kill(static_cast<pid_t>(foreground), signal);
}

using Handler = void (*)(int);

// The handlers with which this process was started.
Handler pipe_handler = SIG_DFL;
Handler file_size_handler = SIG_DFL;

constexpr std::array kSignals = {SIGINT,  SIGQUIT, SIGTERM,  SIGHUP,    SIGUSR1,
                                 SIGUSR2, SIGALRM, SIGWINCH, SIGVTALRM, SIGPROF};

// Handles the signals while the program runs, and restores the handlers afterwards.
class Signals {
 public:
  Signals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action {};
      action.sa_sigaction = pass_on_to_foreground;
      action.sa_flags = SA_SIGINFO;
      sigaction(kSignals[i], &action, &before_[i]);
    }
  }
  Signals(const Signals &) = delete;
  Signals &operator=(const Signals &) = delete;
  ~Signals() { restore(); }

  // A program inherits ignored signals, but no handlers.
  void restore() const {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  std::array<struct sigaction, kSignals.size()> before_{};
};

// Waits for the program's end, and looks meanwhile. SIGCHLD is blocked.
ProcessExit wait_and_look(pid_t child, const Meanwhile &meanwhile) {
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  Clock::time_point due = Clock::now();
  for (;;) {
    int status = 0;
    const pid_t found = waitpid(-1, &status, WNOHANG);
    if (found == child) return exit_of(status);
    if (found > 0) continue;
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(due - Clock::now());
    if (left.count() <= 0) {
      const std::chrono::milliseconds pause = meanwhile();
      due = Clock::now() + pause;
      continue;
    }
    constexpr std::int64_t kSecond = 1'000'000'000;
    const timespec pause{static_cast<time_t>(left.count() / kSecond),
                         static_cast<long>(left.count() % kSecond)};
    (void)sigtimedwait(&ended, nullptr, &pause);  // a handler of another signal may end it
  }
}

}  // namespace

void prepare_signals() {
  pipe_handler = std::signal(SIGPIPE, SIG_IGN);
  file_size_handler = std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
  pass_on_interrupts();
}

void restore_signals() {
  std::signal(SIGPIPE, pipe_handler);
  std::signal(SIGXFSZ, file_size_handler);
}

ProcessExit run_foreground(const std::vector<std::string> &command,
                           const std::function<void()> &in_child, const Meanwhile *meanwhile) {
  std::vector<char *> words;
  for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  Pipe failure;  // closed by a successful execution
  if (const int error = failure.open(); error != 0) return {ProcessEnd::not_started, error};
  foreground = 0;
  // Blocked until the handlers know the program, so that no signal is lost.
  sigset_t blocked, unblocked;
  sigemptyset(&blocked);
  for (const int signal : kSignals) sigaddset(&blocked, signal);
  if (meanwhile != nullptr) sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_BLOCK, &blocked, &unblocked);
  const Signals signals;
  const pid_t child = fork_child([&] {
    signals.restore();
    sigprocmask(SIG_SETMASK, &unblocked, nullptr);
    in_child();
    execvp(words[0], words.data());
    const int error = errno;
    (void)packs::write_all(failure.write.get(),
                           {reinterpret_cast<const std::uint8_t *>(&error), sizeof(error)});
    return 127;
  });
  const int fork_error = errno;
  foreground = child < 0 ? 0 : static_cast<sig_atomic_t>(child);
  sigset_t waiting = unblocked;
  if (meanwhile != nullptr) sigaddset(&waiting, SIGCHLD);
  sigprocmask(SIG_SETMASK, &waiting, nullptr);
  if (child < 0) return {ProcessEnd::not_started, fork_error};
  failure.write.close();
  int error = 0;
  const ssize_t bytes_read =
      packs::uninterrupted([&] { return read(failure.read.get(), &error, sizeof(error)); });
  const ProcessExit exit =
      meanwhile == nullptr ? wait_for(child) : wait_and_look(child, *meanwhile);
  sigprocmask(SIG_SETMASK, &unblocked, nullptr);
  if (bytes_read == static_cast<ssize_t>(sizeof(error))) return {ProcessEnd::not_started, error};
  return exit;
}

int end_as(const ProcessExit &exit) {
  if (exit.end != ProcessEnd::signalled) return exit.code;
  const struct rlimit none {};  // the program has left its core file already
  setrlimit(RLIMIT_CORE, &none);
  std::signal(exit.code, SIG_DFL);
  raise(exit.code);
  constexpr int kSignalled = 128;  // as a shell says it, if the signal is blocked
  return kSignalled + exit.code;
}

}  // namespace kiln::builder
