// SPDX-License-Identifier: Apache-2.0
// Starts a program, feeds and drains its pipes in one loop, and ends it when a limit is reached.
#include "builder/process/run_tool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/process/child_process.hpp"

namespace kiln::builder {

namespace {

// How often to check whether the process has ended, if the system has no pidfd.
constexpr int kTickMs = 20;

// Opens a pipe whose ends are not 0, 1 or 2, since these become the child's.
int open_above(Pipe *pipe) {
  Pipe low;
  if (const int error = low.open(); error != 0) return error;
  pipe->read = packs::Descriptor(::fcntl(low.read.get(), F_DUPFD_CLOEXEC, 3));
  pipe->write = packs::Descriptor(::fcntl(low.write.get(), F_DUPFD_CLOEXEC, 3));
  return pipe->read && pipe->write ? 0 : errno;
}

// Blocks SIGPIPE in this thread while input is written, and discards one that came.
class PipeSignalGuard {
 public:
  PipeSignalGuard() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalGuard() {
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  const sigset_t &before() const { return before_; }

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

std::vector<char *> pointers(std::vector<std::string> &strings) {
  std::vector<char *> result;
  for (std::string &string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged_environment(const ProcessRequest &request) {
  std::vector<std::string> merged;
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(request.environment.begin(), request.environment.end(),
                                      [name](const auto &pair) { return pair.first == name; });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto &[name, value] : request.environment) {
    if (value) merged.push_back(name + "=" + *value);
  }
  return merged;
}

struct Pipes {
  Pipe in, out, err;
  int open() {
    for (Pipe *pipe : {&in, &out, &err}) {
      if (const int error = open_above(pipe); error != 0) return error;
    }
    return 0;
  }
};

// Starts the child and sets `pid`. Returns 0 or an errno.
int spawn(const ProcessRequest &request, const std::string &program, const Pipes &pipes,
          const sigset_t &mask, pid_t &pid) {
  std::vector<std::string> arguments{program};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = merged_environment(request);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (const int error = ::posix_spawn_file_actions_init(&actions)) return error;
  if (const int error = ::posix_spawnattr_init(&attributes)) {
    ::posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  int error = ::posix_spawn_file_actions_adddup2(&actions, pipes.in.read.get(), 0);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, pipes.out.write.get(), 1);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, pipes.err.write.get(), 2);
  if (error == 0 && !request.working_directory.empty()) {
    error = ::posix_spawn_file_actions_addchdir_np(&actions, request.working_directory.c_str());
  }
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (error == 0) {
    error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, pointers(arguments).data(),
                          pointers(environment).data());
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Returns a descriptor that becomes readable when the process has ended; -1 if the system has none.
int open_process([[maybe_unused]] pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  return -1;
#endif
}

// A running child: feeds and drains it until it ends or must be killed.
class Child {
 public:
  Child(const ProcessRequest &request, Pipes pipes, pid_t pid)
      : request_(request),
        input_(request.input),
        deadline_(Clock::now() + request.limits.timeout),
        in_(std::move(pipes.in.write)),
        out_(std::move(pipes.out.read)),
        err_(std::move(pipes.err.read)),
        pid_(pid),
        ended_(open_process(pid)) {
    set_nonblocking(in_);
    set_nonblocking(out_);
    set_nonblocking(err_);
  }

  ProcessResult run() {
    while (!has_ended() && result_.end == ProcessEnd::not_started) {
      write_input();
      wait();
      drain_both();
      if (Clock::now() >= deadline_ && !has_ended()) result_.end = ProcessEnd::timed_out;
      if (is_over_memory()) result_.end = ProcessEnd::over_memory;
    }
    finish();
    return std::move(result_);
  }

 private:
  // Leaves the child unreaped, so that its id stays taken until the group is killed.
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

  void write_input() {
    while (in_ && !input_.empty()) {
      const ssize_t size =
          packs::uninterrupted([&] { return ::write(in_.get(), input_.data(), input_.size()); });
      if (size < 0 && errno == EAGAIN) return;
      if (size < 0) break;
      input_.remove_prefix(static_cast<std::size_t>(size));
    }
    in_.close();
  }

  void wait() const {
    std::array<pollfd, 4> polled{{{in_.get(), POLLOUT, 0},
                                  {out_.get(), POLLIN, 0},
                                  {err_.get(), POLLIN, 0},
                                  {ended_.get(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    auto limit = std::clamp<std::int64_t>(left.count(), 0, 60'000);
    if (request_.limits.memory > 0) limit = std::min<std::int64_t>(limit, kMemoryLook.count());
    if (ended_.get() < 0) limit = std::min<std::int64_t>(limit, kTickMs);
    ::poll(polled.data(), polled.size(), static_cast<int>(limit));
  }

  bool is_over_memory() {
    if (request_.limits.memory == 0 || Clock::now() - looked_ < kMemoryLook) return false;
    looked_ = Clock::now();
    return holds_more(pid_, request_.limits.memory);
  }

  void drain_both() {
    const bool fits =
        drain_within_limit(out_, result_.out) && drain_within_limit(err_, result_.err);
    if (!fits) result_.end = ProcessEnd::output_limit;
  }

  // Reads what the pipe holds; false if the stream is over its limit.
  bool drain_within_limit(packs::Descriptor &from, std::string &to) const {
    Drained drained = from ? Drained::some : Drained::nothing;
    while (drained == Drained::some) {
      drained = drain(from, &to);
      if (to.size() > request_.output_limit) {
        to.resize(request_.output_limit);
        return false;
      }
    }
    if (drained == Drained::end) from.close();
    return true;
  }

  void finish() {
    ::kill(-pid_, SIGKILL);
    const ProcessExit exit = wait_for(pid_);
    const ProcessEnd stopped = result_.end;
    drain_both();
    if (stopped != ProcessEnd::not_started) result_.end = stopped;
    if (result_.end == ProcessEnd::timed_out) {
      result_.reason = fmt::format("no end within {} ms", request_.limits.timeout.count());
    } else if (result_.end == ProcessEnd::over_memory) {
      result_.reason = fmt::format("more than {} MB of memory", request_.limits.memory / 1'000'000);
    } else if (result_.end == ProcessEnd::output_limit) {
      result_.reason = fmt::format("more than {} bytes of output", request_.output_limit);
    } else {
      static_cast<ProcessExit &>(result_) = exit;
      result_.reason = exit.end == ProcessEnd::exited
                           ? fmt::format("exit status {}", exit.code)
                           : fmt::format("signal {} ({})", exit.code, ::strsignal(exit.code));
    }
  }

  const ProcessRequest &request_;
  std::string_view input_;
  Clock::time_point deadline_;
  Clock::time_point looked_ = Clock::now();
  packs::Descriptor in_, out_, err_;
  pid_t pid_;
  packs::Descriptor ended_;
  ProcessResult result_;
};

ProcessResult not_started(const std::string &what, int error) {
  ProcessResult result;
  result.code = error;
  result.reason = fmt::format("{}: {}", what, std::strerror(error));
  return result;
}

bool is_executable_file(const std::filesystem::path &path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

constexpr int kNotExecuted = 127;

}  // namespace

ProcessResult run_tool(const ProcessRequest &request) {
  const std::string name = request.program.string();
  const auto program = find_executable({name});
  if (!program) return not_started(name, ENOENT);
  // The child would resolve a relative path from its own working directory.
  std::error_code error_code;
  const std::filesystem::path absolute = std::filesystem::absolute(*program, error_code);
  if (error_code) return not_started(name, error_code.value());
  Pipes pipes;
  if (const int error = pipes.open(); error != 0) return not_started("pipe", error);
  const PipeSignalGuard guard;
  pid_t pid = 0;
  if (const int error = spawn(request, absolute.string(), pipes, guard.before(), pid)) {
    return not_started(name, error);
  }
  pipes.in.read.close();
  pipes.out.write.close();
  pipes.err.write.close();
  return Child(request, std::move(pipes), pid).run();
}

std::optional<std::filesystem::path> find_executable(const std::vector<std::string> &names,
                                                     std::string_view path) {
  for (const std::string &name : names) {
    if (name.find('/') != std::string::npos) {
      if (is_executable_file(name)) return name;
      continue;
    }
    for (std::string_view rest = path; !name.empty();) {
      const std::string_view folder = rest.substr(0, rest.find(':'));
      const std::filesystem::path candidate = std::filesystem::path(folder) / name;
      if (!folder.empty() && is_executable_file(candidate)) return candidate;
      if (folder.size() == rest.size()) break;
      rest.remove_prefix(folder.size() + 1);
    }
  }
  return std::nullopt;
}

std::optional<std::filesystem::path> find_executable(const std::vector<std::string> &names) {
  const char *path = std::getenv("PATH");
  return find_executable(names, path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
}

int become(const ProcessRequest &request, const packs::Descriptor &output) {
  for (const auto &[name, value] : request.environment) {
    if (value) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
  std::vector<std::string> words{request.program.string()};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<char *> pointers;
  for (std::string &word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string folder = request.working_directory.string();
  if (!folder.empty() && chdir(folder.c_str()) != 0) return kNotExecuted;
  if (dup2(output.get(), STDOUT_FILENO) < 0) return kNotExecuted;
  execv(pointers[0], pointers.data());
  return kNotExecuted;
}

ProcessResult run_attached(const ProcessRequest &request) {
  ProcessResult result;
  Pipe pipe;
  if (const int error = pipe.open(); error != 0) {
    result.code = error;
    result.reason = fmt::format("pipe: {}", std::strerror(error));
    return result;
  }
  const pid_t child = fork_child([&] { return become(request, pipe.write); });
  if (child < 0) {
    result.code = errno;
    result.reason = fmt::format("fork: {}", std::strerror(errno));
    return result;
  }
  pipe.write.close();
  while (drain(pipe.read, &result.out) != Drained::end) {
  }
  static_cast<ProcessExit &>(result) = wait_for(child);
  result.reason = result.end == ProcessEnd::exited
                      ? fmt::format("exit status {}", result.code)
                      : fmt::format("signal {} ({})", result.code, ::strsignal(result.code));
  return result;
}

}  // namespace kiln::builder
