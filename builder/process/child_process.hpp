// SPDX-License-Identifier: Apache-2.0
// What the serving child, the worker pool and run_tool share: starting a child process, reading
// from it and learning how it ended. POSIX.
//
// Boost.Process and reproc start programs; a driver needs a fork without exec, whose function gives
// an answer, and a process group that is killed before its leader's id is free again. Neither
// library does the one or the other, so this code is Kiln's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "kiln/packs/descriptor.hpp"

namespace kiln::builder {

// The children of a process, of any of its threads. Empty where the system does not tell.
std::vector<pid_t> children_of(pid_t pid);

// Bytes that a process has in memory. 0 if there is no process, or the system does not tell.
std::uint64_t resident_bytes(pid_t pid);

// Whether a process and all below it have more bytes than that in memory. Pages that several of
// them have in common count once.
bool holds_more(pid_t pid, std::uint64_t bytes);

enum class ProcessEnd {
  exited,        // code: the exit code
  signalled,     // code: the signal that ended it
  timed_out,     // was killed
  over_memory,   // took more than it may and was killed
  output_limit,  // wrote more than was allowed and was killed
  not_started,   // code: errno
};

// How a process ended.
struct ProcessExit {
  ProcessEnd end = ProcessEnd::not_started;
  int code = 0;

  bool done() const { return end == ProcessEnd::exited && code == 0; }
};

// What a child may take for one piece of work. One that takes more is killed.
struct CallLimits {
  constexpr CallLimits(std::chrono::milliseconds time, std::uint64_t bytes = 0)
      : timeout(time), memory(bytes) {}

  std::chrono::milliseconds timeout;
  // Bytes that it and its helper processes have in memory, looked at each kMemoryLook; 0: any.
  std::uint64_t memory;
};
inline constexpr std::chrono::milliseconds kMemoryLook{100};

// Waits for the end of a child of this process.
ProcessExit wait_for(pid_t child);

// A pipe with its two ends, which programs that are started do not inherit.
struct Pipe {
  packs::Descriptor read, write;

  // 0 or errno.
  int open();
};

void set_nonblocking(const packs::Descriptor &descriptor);

enum class Drained { some, nothing, end };
// Appends what is in a pipe, at most 64 KiB: `nothing` if the descriptor does not block and the
// pipe is empty, `end` if no writer is left.
Drained drain(const packs::Descriptor &from, std::string *to);

// For a process that was just forked: it ends when `parent`, which forked it, does.
void end_with(pid_t parent);

// Forks; the child ends with this process, and leaves by _exit with the code that `work` returns.
// Allocates nothing. The child's id, or -1.
template <typename Work>
pid_t fork_child(Work work) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  end_with(parent);
  _exit(work());
}

// In a child: writes what `work` returns to the pipe, as CBOR. The exit code: 0, 126 if it could
// not be written, or 127 if `work` threw; then the exception's text is on standard error.
int write_answer(const packs::Descriptor &to, const std::function<nlohmann::json()> &work);

// The answer that a child wrote; nothing if the bytes are no answer.
std::optional<nlohmann::json> read_answer(const std::string &bytes);

}  // namespace kiln::builder
