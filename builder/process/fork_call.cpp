// SPDX-License-Identifier: Apache-2.0
#include "builder/process/fork_call.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

#include <fmt/format.h>

#include "builder/process/status_json.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kOutputKept = 64 << 10;
using Clock = std::chrono::steady_clock;

bool write_all(int fd, const std::uint8_t *data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

[[noreturn]] void child(const std::function<nlohmann::json()> &work, pid_t parent, int answer_fd,
                        int output_fd) {
  setpgid(0, 0);
  end_with(parent);  // an interrupt ends the parent alone: no driver outlives it
  for (const int fatal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGINT, SIGTERM}) {
    std::signal(fatal, SIG_DFL);
  }
  dup2(output_fd, STDOUT_FILENO);
  dup2(output_fd, STDERR_FILENO);
  int code = 127;
  try {
    const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(work());
    code = write_all(answer_fd, bytes.data(), bytes.size()) ? 0 : 126;
  } catch (const std::exception &e) {
    const std::string text = std::string(e.what()) + "\n";
    write_all(STDERR_FILENO, reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
  }
  _exit(code);
}

// Reads what is there; false at the end of the stream.
bool drain(int fd, std::vector<std::uint8_t> *into) {
  std::uint8_t chunk[65536];
  const ssize_t n = read(fd, chunk, sizeof(chunk));
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  into->insert(into->end(), chunk, chunk + n);
  return n > 0;
}

// Collects both streams until the answer's ends or time is up; false on a time-out. The
// answer's end is what counts: a driver's helper process may keep the output open.
bool collect(int answer_fd, int output_fd, Clock::time_point deadline,
             std::vector<std::uint8_t> *answer, std::vector<std::uint8_t> *output) {
  bool output_open = true;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd fds[2] = {{answer_fd, POLLIN, 0}, {output_open ? output_fd : -1, POLLIN, 0}};
    const int ready = poll(fds, 2, static_cast<int>(std::min<long long>(left.count(), 60'000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (fds[1].revents != 0) {
      output_open = drain(output_fd, output);
      if (output->size() > 2 * kOutputKept) {
        output->erase(output->begin(), output->end() - static_cast<long>(kOutputKept));
      }
    }
    if (fds[0].revents != 0 && !drain(answer_fd, answer)) return true;
  }
}

void drain_rest(int fd, std::vector<std::uint8_t> *into) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  std::size_t before = 0;
  do {
    before = into->size();
    drain(fd, into);
  } while (into->size() > before && into->size() < 4 * kOutputKept);
}

void wait_for(pid_t pid, ChildResult *result) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    result->end = ChildEnd::crashed;
    result->code = WTERMSIG(status);
  } else {
    result->end = WEXITSTATUS(status) == 0 ? ChildEnd::answered : ChildEnd::exited;
    result->code = WEXITSTATUS(status);
  }
}

void finish(pid_t pid, bool in_time, const std::vector<std::uint8_t> &answer, ChildResult *result) {
  // What the driver may have left behind goes before the child is reaped: its id is the
  // group's. A child whose answer has ended is at its end, too, unless a driver closed every
  // file and stays.
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  wait_for(pid, result);
  if (!in_time) result->end = ChildEnd::timed_out;
  if (!result->ok()) return;
  result->answer = nlohmann::json::from_cbor(answer, true, false);
  if (result->answer.is_discarded()) result->end = ChildEnd::exited;
}

}  // namespace

std::string ChildResult::reason() const {
  std::string text;
  switch (end) {
    case ChildEnd::answered: text = "answered"; break;
    case ChildEnd::exited:
      text = fmt::format("the driver ended the process with code {}", code);
      break;
    case ChildEnd::crashed:
      text = fmt::format("crashed with signal {} ({})", code, strsignal(code));
      break;
    case ChildEnd::timed_out: text = "gave no answer in time and was killed"; break;
    case ChildEnd::not_started: text = "no process could be started"; break;
  }
  if (output.empty()) return text;
  const std::size_t tail = std::min<std::size_t>(output.size(), 2000);
  return text + "; its output ends with:\n" + output.substr(output.size() - tail);
}

Status ChildResult::status() const {
  return ok() ? status_from(answer) : Status(Code::process, reason());
}

ChildResult fork_call(const std::function<nlohmann::json()> &work,
                      std::chrono::milliseconds timeout) {
  ChildResult result;
  int answer_pipe[2];
  int output_pipe[2];
  if (pipe2(answer_pipe, O_CLOEXEC) != 0) return result;
  if (pipe2(output_pipe, O_CLOEXEC) != 0) {
    close(answer_pipe[0]);
    close(answer_pipe[1]);
    return result;
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    close(answer_pipe[0]);
    close(output_pipe[0]);
    child(work, parent, answer_pipe[1], output_pipe[1]);
  }
  close(answer_pipe[1]);
  close(output_pipe[1]);
  if (pid > 0) {
    std::vector<std::uint8_t> answer;
    std::vector<std::uint8_t> output;
    const bool in_time =
        collect(answer_pipe[0], output_pipe[0], Clock::now() + timeout, &answer, &output);
    finish(pid, in_time, answer, &result);
    drain_rest(output_pipe[0], &output);
    result.output.assign(output.begin(), output.end());
  }
  close(answer_pipe[0]);
  close(output_pipe[0]);
  return result;
}

void end_with(pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(127);
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "kiln-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace kiln::builder
