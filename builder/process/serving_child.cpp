// SPDX-License-Identifier: Apache-2.0
// Forks, sends orders, collects answers and the driver's output until the deadline, and kills the
// process group.
#include "builder/process/serving_child.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/process/child_process.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kMaxRest = 256 << 10;
std::atomic<pid_t> child_of_call{0};  // read by the signal handler; 0: none

// A signal handler: ends the child that is being called, then this process.
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

// Orders and answers travel as CBOR after an eight-byte size.
using Size = std::uint64_t;

// Returns false if the other end is gone.
bool send_all(const packs::Descriptor &to, const void *bytes, std::size_t size) {
  const auto *at = static_cast<const std::uint8_t *>(bytes);
  while (size > 0) {
    const ssize_t n = packs::uninterrupted([&] { return send(to.get(), at, size, MSG_NOSIGNAL); });
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool send_json(const packs::Descriptor &to, const nlohmann::json &value) {
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(value);
  const Size size = bytes.size();
  return send_all(to, &size, sizeof(size)) && send_all(to, bytes.data(), bytes.size());
}

// Returns the JSON at the start of `bytes`, if it is complete.
std::optional<nlohmann::json> whole_json(const std::string &bytes) {
  Size size = 0;
  if (bytes.size() < sizeof(size)) return std::nullopt;
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (bytes.size() - sizeof(size) < size) return std::nullopt;
  return read_answer(bytes.substr(sizeof(size), size)).value_or(nullptr);
}

// Runs in the child. Returns the next order; nothing once the parent is gone.
std::optional<nlohmann::json> next_order(const packs::Descriptor &from) {
  std::string bytes;
  while (drain(from, &bytes) == Drained::some) {
    if (auto order = whole_json(bytes)) return order;
  }
  return std::nullopt;
}

// Runs in the child, which gets a process group of its own: an interrupt from the terminal reaches
// only the parent, which passes it on (pass_on_interrupts), and no driver outlives the parent.
void set_apart(const packs::Descriptor &output) {
  setpgid(0, 0);
  for (const int fatal :
       {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGSEGV, SIGTERM}) {
    std::signal(fatal, SIG_DFL);
  }
  dup2(output.get(), STDOUT_FILENO);
  dup2(output.get(), STDERR_FILENO);
}

int serve_orders(const ServingChild::Work &work, const packs::Descriptor &socket) {
  try {
    while (const auto order = next_order(socket)) {
      if (!send_json(socket, work(*order))) return 126;
    }
    return 0;
  } catch (const std::exception &error) {
    const std::string text = std::string(error.what()) + "\n";
    (void)packs::write_all(STDERR_FILENO,
                           {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
    return 127;
  }
}

// Bounds the output, and seldom moves it.
void keep_end(std::string *output, std::size_t kept) {
  if (output->size() > 2 * kept) output->erase(0, output->size() - kept);
}

// Reads the rest of the pipe.
void drain_rest(const packs::Descriptor &from, std::string *to) {
  const std::size_t most = to->size() + kMaxRest;
  while (to->size() < most && drain(from, to) == Drained::some) {
  }
}

// Whether a child that was not yet waited for has exited.
bool has_exited(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

enum class Collected { answer, ended, late, over_memory };

// Collects both streams until the answer is complete. The end of the output does not end the call:
// a driver's helper process may keep the stream open.
Collected collect(const packs::Descriptor &socket, const packs::Descriptor &output, pid_t pid,
                  const CallLimits &limits, std::size_t output_kept, ChildResult *result) {
  const Clock::time_point deadline = Clock::now() + limits.timeout;
  Clock::time_point looked = Clock::now();
  bool output_open = true;
  bool has_ended = false;  // the process; all that it has sent can be read
  std::string bytes;
  for (;;) {
    const long long left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Collected::late;
    pollfd fds[2] = {{socket.get(), POLLIN, 0}, {output_open ? output.get() : -1, POLLIN, 0}};
    const long long wait = has_ended ? 0 : std::min<long long>(left, kMemoryLook.count());
    const int ready = poll(fds, 2, static_cast<int>(wait));
    if (limits.memory > 0 && Clock::now() - looked >= kMemoryLook) {
      looked = Clock::now();
      if (holds_more(pid, limits.memory)) return Collected::over_memory;
    }
    // Its end does not close the socket if a helper process of the driver has that open as well.
    if (ready >= 0 && fds[0].revents == 0) {
      if (has_ended) return Collected::ended;
      has_ended = has_exited(pid);
    }
    if (ready <= 0) continue;
    if (fds[1].revents != 0) {
      output_open = drain(output, &result->output) != Drained::end;
      keep_end(&result->output, output_kept);
    }
    if (fds[0].revents == 0) continue;
    if (drain(socket, &bytes) == Drained::end) return Collected::ended;
    if (auto answer = whole_json(bytes)) {
      result->answer = *std::move(answer);
      return Collected::answer;
    }
  }
}

}  // namespace

bool ChildResult::is_endless() const {
  return !ok() && end == ProcessEnd::signalled && code == SIGALRM;
}

std::string ChildResult::reason() const {
  if (is_endless()) return kEndless;
  std::string text;
  switch (end) {
    case ProcessEnd::exited:
      text = ok() ? "answered" : fmt::format("the driver ended the process with code {}", code);
      break;
    case ProcessEnd::signalled:
      text = fmt::format("crashed with signal {} ({})", code, strsignal(code));
      break;
    case ProcessEnd::timed_out: text = "gave no answer in time and was killed"; break;
    case ProcessEnd::over_memory: text = "took more memory than it may and was killed"; break;
    case ProcessEnd::output_limit:  // a serving child has no output limit
    case ProcessEnd::not_started: text = "no process could be started"; break;
  }
  if (output.empty()) return text;
  const std::size_t tail = std::min<std::size_t>(output.size(), 2000);
  return text + "\nits output ends with:\n" + output.substr(output.size() - tail);
}

ServingChild::ServingChild(ProcessRequest program) : program_(std::move(program)) {}

bool ServingChild::start() {
  int sockets[2];
  Pipe output;
  if (output.open() != 0) return false;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  packs::Descriptor mine(sockets[0]), its(sockets[1]);
  pid_ = fork_child([&] {
    mine.close();
    output.read.close();
    set_apart(output.write);
    if (!program_) return serve_orders(work_, its);
    dup2(its.get(), STDIN_FILENO);
    return become(*program_, output.write);
  });
  if (pid_ < 0) return false;
  set_nonblocking(output.read);
  socket_ = std::move(mine);
  output_ = std::move(output.read);
  return true;
}

ProcessExit ServingChild::end() {
  answers_ = 0;
  if (pid_ < 0) return {};
  const pid_t pid = std::exchange(pid_, -1);
  // The group is killed before the child is reaped, because until then its id belongs to the group.
  // A child that closed its socket is about to end, unless a driver closed every file and stays.
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  const ProcessExit exit = wait_for(pid);
  socket_.close();
  return exit;
}

std::uint64_t ServingChild::resident() const { return pid_ < 0 ? 0 : resident_bytes(pid_); }

ChildResult ServingChild::call(const nlohmann::json &order, const CallLimits &limits) {
  ChildResult result;
  if (pid_ < 0 && !start()) return result;
  child_of_call = pid_;
  std::string earlier;
  drain_rest(output_, &earlier);
  const Collected collected = send_json(socket_, order)
                                  ? collect(socket_, output_, pid_, limits, output_kept_, &result)
                                  : Collected::ended;
  child_of_call = 0;
  if (collected == Collected::answer) {
    ++answers_;
    result.end = ProcessEnd::exited;
    result.answered = true;
  } else {
    static_cast<ProcessExit &>(result) = end();
    if (collected == Collected::late) result.end = ProcessEnd::timed_out;
    if (collected == Collected::over_memory) result.end = ProcessEnd::over_memory;
  }
  drain_rest(output_, &result.output);
  return result;
}

int answer_orders(const ServingChild::Work &work) {
  // Programs and drivers that this one starts must not read the orders.
  const packs::Descriptor socket(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const packs::Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!socket || !nothing || dup2(nothing.get(), STDIN_FILENO) < 0) return 126;
  return serve_orders(work, socket);
}

void pass_on_interrupts() {
  for (const int interrupt : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(interrupt, end_child_first) == SIG_IGN) std::signal(interrupt, SIG_IGN);
  }
}

}  // namespace kiln::builder
