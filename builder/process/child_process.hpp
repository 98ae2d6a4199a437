// SPDX-License-Identifier: Apache-2.0
// Shared by the serving child, the worker pool and run_tool: forking a child process, reading its
// output and learning how it ended. POSIX.
//
// Boost.Process and reproc start programs. A driver needs a fork without exec that returns a
// function's answer, and a process group that is killed before its leader's id is free again.
// Neither library does either, so this code is Kiln's own.
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

#include "builder/base/builder_status.hpp"
#include "builder/process/child_result.hpp"
#include "kiln/packs/descriptor.hpp"

namespace kiln::builder {

// Returns the children of all threads of a process. Empty if the system does not tell.
std::vector<pid_t> children_of(pid_t pid);

// Whether a process and its descendants together have more than `bytes` in memory. Pages that they
// share count once.
bool holds_more(pid_t pid, std::uint64_t bytes);

// The time between looks at a child's memory.
inline constexpr std::chrono::milliseconds kMemoryLook{100};

// Returns what a status of waitpid() says.
ProcessExit exit_of(int status);
// Waits for the end of a child of this process.
ProcessExit wait_for(pid_t child);

// A pipe. Programs that are started do not inherit its ends.
struct Pipe {
  packs::Descriptor read, write;

  // Returns 0 or errno.
  int open();
};

void set_nonblocking(const packs::Descriptor &descriptor);

enum class Drained { some, nothing, end };
// Appends at most 64 KiB from a pipe. Returns `nothing` if the descriptor does not block and the
// pipe is empty, `end` if no writer is left.
Drained drain(const packs::Descriptor &from, std::string *to);

// Call in a process that was just forked: it ends when `parent`, the process that forked it, ends.
void end_with(pid_t parent);

// Ends this process by a signal, as its parent would have seen it of a program that the signal
// ended.
[[noreturn]] void die_of(int signal);

// Forks and returns the child's id, or -1. The child ends with this process, and leaves by _exit
// with the code that `work` returns. Allocates nothing.
template <typename Work>
pid_t fork_child(Work work) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  end_with(parent);
  _exit(work());
}

// Call in a child: writes the result of `work` to the pipe, as CBOR. Returns the exit code: 0, 126
// if the result could not be written, or 127 if `work` threw; then the exception's text is on
// standard error.
int write_answer(const packs::Descriptor &to, const std::function<nlohmann::json()> &work);

// Decodes the answer that a child wrote; nothing if the bytes are not an answer.
std::optional<nlohmann::json> read_answer(const std::string &bytes);

}  // namespace kiln::builder
