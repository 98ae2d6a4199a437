// SPDX-License-Identifier: Apache-2.0
// The other end of a posing device (builder/virtual/posing_device.hpp): a process whose only device
// is a driver that acts as an absent GPU, and which runs the jobs of the kiln that started it.
#pragma once

#include <string>

namespace kiln::builder {

// Answers orders {"job", "finish", "timeout" (ms), "memory"}: builds the only variant of the job's
// input and writes its output (builder/machine/virtual_device.hpp). The answer is a failed status
// (child_process.hpp) or {"build_microseconds", "load_microseconds"}; with "last" if a driver died,
// so that the next job needs a new process. The device computes no results, so none are compared.
// Returns the exit code.
int answer_posed_jobs(const std::string &folder);

}  // namespace kiln::builder
