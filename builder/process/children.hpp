// SPDX-License-Identifier: Apache-2.0
// The processes below a process, and the memory that they have, as /proc tells it.
#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace kiln::builder {

// The children of a process, of any of its threads. Empty where the system does not tell.
std::vector<pid_t> children_of(pid_t pid);

// Bytes that a process has in memory. 0 if there is no process, or the system does not tell.
std::uint64_t resident_bytes(pid_t pid);

// Whether a process and all below it have more bytes than that in memory. Pages that several of
// them have in common count once.
bool holds_more(pid_t pid, std::uint64_t bytes);

}  // namespace kiln::builder
