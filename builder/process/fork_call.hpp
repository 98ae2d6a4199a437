// SPDX-License-Identifier: Apache-2.0
// Runs a driver in a child process that has loaded no driver before, so that a crash costs nothing.
// On Windows, which forks no process, in a thread of this one.
#pragma once

#include <chrono>
#include <functional>

#include <nlohmann/json.hpp>

#include "builder/process/child_result.hpp"

namespace kiln::builder {

// Forks, runs `work` in the child and returns its answer. The child leaves by _exit, so no
// driver's exit handler runs. The caller must be single-threaded and must not have loaded
// a driver itself: then each child is as fresh as a new process. On Windows a crash ends this
// process, after a message; so does work that is not done in time.
// Binary answers travel as nlohmann::json::binary.
ChildResult fork_call(const std::function<nlohmann::json()> &work,
                      std::chrono::milliseconds timeout);

}  // namespace kiln::builder
