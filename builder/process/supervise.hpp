// SPDX-License-Identifier: Apache-2.0
// A command that leaves nothing behind, however it ends. POSIX; what it says of processes further
// down needs Linux.
#pragma once

#include <functional>

namespace kiln::builder {

// Forks. The child returns and does the command's work; the process that called stays as its
// supervisor, never returns, and ends as the child does, with its exit code or its signal.
//
// What the child and its children put into TMPDIR goes into a folder that the supervisor removes at
// the end; what killed ones left there is removed at the start. SIGINT, SIGTERM and SIGHUP, unless
// who started the command ignores them, end the child and all processes that it started, also those
// in other process groups; so does a crash of the child. Then, after an interrupt, `tell` is
// called, and the supervisor dies of the same signal: a shell sees 130 for SIGINT, 143 for SIGTERM.
// A child that is not supervised any more, since its supervisor was killed, ends at once.
//
// The caller is single-threaded. If no process can be forked the caller goes on unsupervised.
void supervise(const std::function<void()> &tell);

}  // namespace kiln::builder
