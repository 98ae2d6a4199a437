// SPDX-License-Identifier: Apache-2.0
// Forks, executes, and waits with the terminal's signals ignored.
#include "builder/process/foreground.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <sys/resource.h>
#include <unistd.h>

#include "builder/process/child_process.hpp"
#include "builder/process/serving_child.hpp"

namespace kiln::builder {
namespace {

volatile sig_atomic_t foreground = 0;  // the program's process; 0: not started yet

extern "C" void pass_on_to_foreground(int signal) {
  if (foreground != 0) kill(static_cast<pid_t>(foreground), signal);
}

using Handler = void (*)(int);

// The handlers with which this process was started.
Handler pipe_handler = SIG_DFL;
Handler file_size_handler = SIG_DFL;

constexpr std::array kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

// Handles the signals while the program runs, and restores the handlers afterwards.
class Signals {
 public:
  Signals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action {};
      const bool is_terminals = kSignals[i] == SIGINT || kSignals[i] == SIGQUIT;
      action.sa_handler = is_terminals ? SIG_IGN : pass_on_to_foreground;
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
                           const std::function<void()> &in_child) {
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
  sigprocmask(SIG_BLOCK, &blocked, &unblocked);
  const Signals signals;
  const pid_t child = fork();
  if (child == 0) {
    signals.restore();
    sigprocmask(SIG_SETMASK, &unblocked, nullptr);
    in_child();
    execvp(words[0], words.data());
    const int error = errno;
    (void)packs::write_all(failure.write.get(),
                           {reinterpret_cast<const std::uint8_t *>(&error), sizeof(error)});
    _exit(127);
  }
  const int fork_error = errno;
  foreground = child < 0 ? 0 : static_cast<sig_atomic_t>(child);
  sigprocmask(SIG_SETMASK, &unblocked, nullptr);
  if (child < 0) return {ProcessEnd::not_started, fork_error};
  failure.write.close();
  int error = 0;
  const ssize_t bytes_read =
      packs::uninterrupted([&] { return read(failure.read.get(), &error, sizeof(error)); });
  const ProcessExit exit = wait_for(child);
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
