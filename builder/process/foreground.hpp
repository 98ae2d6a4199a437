// SPDX-License-Identifier: Apache-2.0
// The signals of a command, and running the user's own program in its place. POSIX.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "builder/process/child_result.hpp"

namespace kiln::builder {

// Call at the beginning of a command. A failed write is then an error like any other, children can
// be waited for even if the parent ignored SIGCHLD, and interrupts reach the child that is being
// called (pass_on_interrupts).
void prepare_signals();
// Restores the signals that prepare_signals() ignores, for a program that replaces this one.
void restore_signals();

// What the waiting process does again and again while a program runs; returns the time to the next
// call.
using Meanwhile = std::function<std::chrono::milliseconds()>;

// Runs a program, searched in PATH, to its end, with this process's streams, folder, environment,
// process group and terminal. To whoever started this process, it is the program: signals that
// another process sends to this one are passed on, and the program gets those of the terminal
// itself; this process stops while the program is stopped; if this process is killed, so is the
// program. SIGSTOP alone cannot be passed on. Executing the program in place of this process was
// rejected: the commands report when it has ended, and the first process of a container has to
// outlive it.
// `in_child` runs in the child before the program, and may only call what is safe after a fork.
// Also ends the zombies of other children, as the first process of a container has to. Returns
// ProcessEnd::not_started with errno if the program cannot be executed. Call from a single-threaded
// process.
ProcessExit run_foreground(const std::vector<std::string> &command,
                           const std::function<void()> &in_child,
                           const Meanwhile *meanwhile = nullptr);

// Returns the exit code that stands for the end of a program; if a signal ended it, ends this
// process by the same signal, as the parent would have seen without this process.
int end_as(const ProcessExit &exit);

}  // namespace kiln::builder
