// SPDX-License-Identifier: Apache-2.0
// Pipes, their reading without blocking, and the JSON answer that a child writes.
#include "builder/process/child_process.hpp"

#include <csignal>
#include <exception>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace kiln::builder {

ProcessExit wait_for(pid_t child) {
  int status = 0;
  if (packs::uninterrupted([&] { return waitpid(child, &status, 0); }) < 0) {
    return {ProcessEnd::not_started, errno};
  }
  if (WIFSIGNALED(status)) return {ProcessEnd::signalled, WTERMSIG(status)};
  return {ProcessEnd::exited, WEXITSTATUS(status)};
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
