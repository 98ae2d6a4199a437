// SPDX-License-Identifier: Apache-2.0
// What this process may use of the machine, where its executable lies, and the clock that start-up
// is measured with.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>

namespace kiln::builder {

// The CPUs that this process may use, which are fewer than the machine's where its affinity is
// narrowed; at least 1.
std::size_t usable_cpus();

// Allows as many open files as the system does, for what keeps each of many packs open: shells
// allow 1,024.
void allow_many_files();

// The executable's folder: what belongs to it lies beside it. Empty if the system does not say.
// Where a dynamic loader was started with its path, as for drivers of another C library, it is that
// path's.
std::filesystem::path executable_folder();

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace kiln::builder
