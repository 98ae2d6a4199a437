// SPDX-License-Identifier: Apache-2.0
// A supervisor process: a command leaves nothing behind, however it ends. POSIX; ending descendants
// needs Linux.
#pragma once

#include <functional>

namespace kiln::builder {

// Forks. The child returns and does the command's work. The calling process stays as its
// supervisor, never returns, and ends as the child does, with its exit code or its signal.
//
// The child and its children use a folder as TMPDIR that the supervisor removes at the end. At the
// start it removes folders that killed commands left. SIGINT, SIGTERM and SIGHUP, unless they are
// ignored already, end the child and every process that it started, also in other process groups;
// so does a crash of the child. After an interrupt the supervisor then calls `on_interrupt` and
// dies of the same signal: a shell sees 130 for SIGINT, 143 for SIGTERM. If the supervisor is
// killed, the child ends at once.
//
// The caller must be single-threaded. If no process can be forked, the caller goes on unsupervised.
void supervise(const std::function<void()> &on_interrupt);

}  // namespace kiln::builder
