// SPDX-License-Identifier: Apache-2.0
// Pipes and non-blocking reads, the JSON answer of a child, and the descendants of a process as
// /proc lists them.
#include "builder/process/child_process.hpp"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "builder/base/this_process.hpp"

namespace kiln::builder {

namespace {

// Returns the bytes in memory, where a page that N processes share counts as one N-th.
std::uint64_t proportional_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("Pss:")) return std::strtoull(line.c_str() + 4, nullptr, 10) * 1024;
  }
  return resident_bytes(pid);
}

std::vector<pid_t> with_descendants(pid_t pid) {
  std::vector<pid_t> all = {pid};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const pid_t child : children_of(all[i])) all.push_back(child);
  }
  return all;
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator task(tasks, error), end; !error && task != end;
       task.increment(error)) {
    std::ifstream file(task->path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

bool holds_more(pid_t pid, std::uint64_t bytes) {
  const std::vector<pid_t> all = with_descendants(pid);
  std::uint64_t sum = 0;
  for (const pid_t one : all) sum += resident_bytes(one);
  if (sum <= bytes || all.size() == 1) return sum > bytes;
  // Pages that a forked process shares with its parent were counted twice. The exact sum is read
  // only now, because the kernel walks all pages of a process for it.
  sum = 0;
  for (const pid_t one : all) sum += proportional_bytes(one);
  return sum > bytes;
}

ProcessExit exit_of(int status) {
  if (WIFSIGNALED(status)) return {ProcessEnd::signalled, WTERMSIG(status)};
  return {ProcessEnd::exited, WEXITSTATUS(status)};
}

ProcessExit wait_for(pid_t child) {
  int status = 0;
  if (packs::uninterrupted([&] { return waitpid(child, &status, 0); }) < 0) {
    return {ProcessEnd::not_started, errno};
  }
  return exit_of(status);
}

int Pipe::open() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  read = packs::Descriptor(ends[0]);
  write = packs::Descriptor(ends[1]);
  return 0;
}

void set_nonblocking(const packs::Descriptor &descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

Drained drain(const packs::Descriptor &from, std::string *to) {
  char chunk[65536];
  const ssize_t n = packs::uninterrupted([&] { return read(from.get(), chunk, sizeof(chunk)); });
  if (n < 0 && errno == EAGAIN) return Drained::nothing;
  if (n <= 0) return Drained::end;
  to->append(chunk, static_cast<std::size_t>(n));
  return Drained::some;
}

void end_with(pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(127);
}

void die_of(int signal) {
  const rlimit no_core{0, 0};  // the program has left a core file
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
  _exit(128 + signal);  // reached if this is the first process of a container
}

int write_answer(const packs::Descriptor &to, const std::function<nlohmann::json()> &work) {
  try {
    const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(work());
    return packs::write_all(to.get(), {bytes.data(), bytes.size()}) == 0 ? 0 : 126;
  } catch (const std::exception &error) {
    const std::string text = std::string(error.what()) + "\n";
    (void)packs::write_all(STDERR_FILENO,
                           {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
    return 127;
  }
}

std::optional<nlohmann::json> read_answer(const std::string &bytes) {
  auto answer = nlohmann::json::from_cbor(bytes, true, false);
  if (answer.is_discarded()) return std::nullopt;
  return answer;
}

}  // namespace kiln::builder
