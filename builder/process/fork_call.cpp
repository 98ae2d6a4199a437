// SPDX-License-Identifier: Apache-2.0
// Forks, collects the answer and the driver's output until the deadline, and ends the group.
#include "builder/process/fork_call.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "builder/process/status_json.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kOutputKept = 64 << 10;
using Clock = std::chrono::steady_clock;

// What the child writes: its answer, and what a driver prints.
struct Streams {
  Pipe answer, output;
  int open() {
    const int error = answer.open();
    return error == 0 ? output.open() : error;
  }
};

std::atomic<pid_t> child_of_call{0};  // the handler's; 0: there is none

// A signal's handler.
void end_child_first(int signal) {
  const pid_t child = child_of_call;
  bool there = child != 0 && kill(child, SIGTERM) == 0;
  for (int i = 0; there && i < 100; ++i) {
    siginfo_t info{};
    poll(nullptr, 0, 1);
    there = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid != child;
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

// In the child. A group of its own: an interrupt from the terminal reaches the parent alone,
// which passes it on (pass_on_interrupts), and no driver outlives the parent.
int work_in_child(const std::function<nlohmann::json()> &work, Streams *streams) {
  setpgid(0, 0);
  for (const int fatal : {SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGSEGV, SIGTERM}) {
    std::signal(fatal, SIG_DFL);
  }
  streams->answer.read.close();
  streams->output.read.close();
  dup2(streams->output.write.get(), STDOUT_FILENO);
  dup2(streams->output.write.get(), STDERR_FILENO);
  return write_answer(streams->answer.write, work);
}

// Collects both streams until the answer ends or time is up; false on a time-out. The end of the
// output does not count: a driver's helper process may keep it open.
bool collect(const Streams &streams, Clock::time_point deadline, std::string *answer,
             std::string *output) {
  bool output_open = true;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd fds[2] = {{streams.answer.read.get(), POLLIN, 0},
                     {output_open ? streams.output.read.get() : -1, POLLIN, 0}};
    const int ready = poll(fds, 2, static_cast<int>(std::min<long long>(left.count(), 60'000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (fds[1].revents != 0) {
      output_open = drain(streams.output.read, output) != Drained::end;
      if (output->size() > 2 * kOutputKept) output->erase(0, output->size() - kOutputKept);
    }
    if (fds[0].revents != 0 && drain(streams.answer.read, answer) == Drained::end) return true;
  }
}

// What the output still holds of a child that has ended.
void drain_rest(const packs::Descriptor &from, std::string *to) {
  set_nonblocking(from);
  while (to->size() < 4 * kOutputKept && drain(from, to) == Drained::some) {
  }
}

// Ends the child and all that its driver may have started.
ProcessExit end_child(pid_t pid) {
  // The group is killed before the child is reaped: until then its id is the group's. A child whose
  // answer has ended is at its end, unless a driver closed every file and stays.
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  child_of_call = 0;
  return wait_for(pid);
}

}  // namespace

std::string ChildResult::reason() const {
  std::string text;
  switch (end) {
    case ProcessEnd::exited:
      text = ok() ? "answered" : fmt::format("the driver ended the process with code {}", code);
      break;
    case ProcessEnd::signalled:
      text = fmt::format("crashed with signal {} ({})", code, strsignal(code));
      break;
    case ProcessEnd::timed_out: text = "gave no answer in time and was killed"; break;
    case ProcessEnd::output_limit:  // there is none
    case ProcessEnd::not_started: text = "no process could be started"; break;
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
  Streams streams;
  if (streams.open() != 0) return result;
  const pid_t pid = fork_child([&] { return work_in_child(work, &streams); });
  if (pid < 0) return result;
  child_of_call = pid;
  streams.answer.write.close();
  streams.output.write.close();
  std::string answer;
  const bool in_time = collect(streams, Clock::now() + timeout, &answer, &result.output);
  static_cast<ProcessExit &>(result) = end_child(pid);
  if (!in_time) result.end = ProcessEnd::timed_out;
  drain_rest(streams.output.read, &result.output);
  if (!result.done()) return result;
  if (auto read = read_answer(answer)) {
    result.answer = *std::move(read);
    result.answered = true;
  }
  return result;
}

void pass_on_interrupts() {
  for (const int interrupt : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(interrupt, end_child_first) == SIG_IGN) std::signal(interrupt, SIG_IGN);
  }
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const std::string name = (std::filesystem::temp_directory_path(error) / "kiln-XXXXXX").string();
  std::string made = name;
  if (!error && mkdtemp(made.data()) == nullptr) error = {errno, std::generic_category()};
  if (!error) return TemporaryFolder(made);
  return Status(Code::failed, "cannot make the folder " + name + ": " + error.message());
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace kiln::builder
