// SPDX-License-Identifier: Apache-2.0
// The CPUs and open files that this process may use, its variables, its executable's folder, the
// memory that a process holds, a terminal's width, and the clock that start-up is measured with.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/types.h>

namespace kiln::builder {

// Returns the number of CPUs that this process may use, at least 1. A narrowed affinity leaves
// fewer than the machine has.
std::size_t usable_cpus();

// Raises the limit on open files to the system's maximum, for commands that keep many packs open:
// shells allow 1,024.
void allow_many_files();

// Returns a variable of the environment; empty if it is not set.
std::string variable(const char *name);

// Returns the folder of the executable, where its other files lie too. Empty if the system does not
// say. If a dynamic loader was started with the executable's path, as for drivers of another C
// library, returns the folder of that path.
std::filesystem::path executable_folder();

// Returns the bytes that a process has in memory. 0 if there is no process, or the system does not
// tell.
std::uint64_t resident_bytes(pid_t pid);

// Returns the width of the terminal that the descriptor `output` is; 80 if it is none.
std::size_t terminal_columns(int output);

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace kiln::builder
