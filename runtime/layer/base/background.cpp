// SPDX-License-Identifier: Apache-2.0
// Finds `kiln`, and starts it as the grandchild of a process that may have threads, handlers of
// SIGCHLD and gigabytes of memory.
//
// The feature macro is for clone and dladdr, and must come before the first header.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/layer/base/background.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/layer/base/settings.hpp"

extern "C" char **environ;

namespace kiln::layer {
namespace {

using Clock = std::chrono::steady_clock;

// An application that goes on may note more after the builder has ended.
constexpr std::chrono::minutes kStartAgain{2};

constexpr std::size_t kStackSize = 64 << 10;

// Returns whether it is a program: an installation has a folder of the name beside its libraries.
bool is_program(const std::string &path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// Returns the path of kiln, or an empty one.
std::string find_kiln() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void *>(&find_kiln), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  const std::string layer = info.dli_fname;
  const std::string folder = layer.substr(0, layer.rfind('/') + 1);
  for (const std::string &path : {folder + "kiln", folder + KILN_BIN_FROM_LAYER + "/kiln"}) {
    if (is_program(path)) return path;
  }
  return {};
}

const std::string &kiln_path() {
  static const std::string &found = *new std::string(find_kiln());
  return found;
}

// What the new process executes. Lives while the processes share memory.
struct Program {
  const char *path;
  char *const *arguments;
  char *const *variables;
  char *stack;  // where the next stack begins, which grows down
};

void close_from(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  constexpr int kUsual = 4096;
  for (int fd = first; fd < kUsual; ++fd) close(fd);
}

// In the new process, which shares memory with the application until it executes kiln: only calls
// to the system. Descriptors are closed so that whoever reads the application's output sees its
// end.
int execute(void *given) {
  const auto *program = static_cast<const Program *>(given);
  setsid();
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) dup2(null, fd);
  close_from(STDERR_FILENO + 1);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) (void)sigaction(number, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(program->path, program->arguments, program->variables);
  _exit(127);
}

// Runs `work` in a new process that shares memory, and waits until it executes another program or
// ends. Its end sends the application no signal, and a plain wait() does not find it.
pid_t start(int (*work)(void *), Program *program) {
  program->stack -= kStackSize;
  return clone(work, program->stack + kStackSize, CLONE_VM | CLONE_VFORK, program);
}

// The process between the application and kiln, which then is no child of the application.
int start_and_leave(void *given) {
  start(execute, static_cast<Program *>(given));
  _exit(0);
}

void run_apart(const std::vector<std::string> &words) {
  std::vector<char *> arguments;
  for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char *> variables;
  // glibc's clearenv() sets `environ` to null.
  for (char **variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (std::string_view(*variable).starts_with("OPENCL_LAYERS=")) continue;  // kiln builds bare
    variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  constexpr std::size_t kSize = 2 * kStackSize;
  void *const stacks =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) return;
  Program program{words[0].c_str(), arguments.data(), variables.data(),
                  static_cast<char *>(stacks) + kSize};
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler runs in the shared memory
  const pid_t child = start(start_and_leave, &program);
  if (child != -1) (void)waitpid(child, nullptr, __WALL);  // which no handler interrupts
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stacks, kSize);
}

}  // namespace

bool has_builder() { return !kiln_path().empty(); }

bool starts_builder() { return has_builder() && settings().background; }

void start_builder() {
  static std::atomic<Clock::rep> next_start{0};
  Clock::rep now = Clock::now().time_since_epoch().count();
  Clock::rep due = next_start;
  const Clock::rep then = now + Clock::duration(kStartAgain).count();
  if (!starts_builder() || now < due || !next_start.compare_exchange_strong(due, then)) return;
  const int error = errno;
  std::vector<std::string> words = {kiln_path(), "overlay", "build", settings().overlay};
  if (!settings().shared.empty())
    words = {words[0], words[1], words[2], settings().shared, "--shared"};
  words.insert(words.end(), {"--after", std::to_string(getpid()), "-j1"});
  run_apart(words);
  errno = error;
}

}  // namespace kiln::layer
