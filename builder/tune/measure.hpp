// SPDX-License-Identifier: Apache-2.0
// Tuning one variant, in a process that may die.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "builder/problem/plane.hpp"
#include "builder/tune/tuned_program.hpp"

namespace kiln::builder {

// One size of the problem, with data for it.
struct TuneWork {
  ProblemSize size;
  const std::vector<Plane> *inputs = nullptr;    // in the order of program_shape()
  const std::vector<Plane> *expected = nullptr;  // the reference's; empty: not checked
  double best = 0;                               // nanoseconds of the fastest other; 0: none yet
};

struct TuneJob {
  const DeviceInfo *device = nullptr;
  std::string pack_path;
  std::string program;
  std::string variant;
  std::vector<TuneWork> works;
  double seconds = 1;                         // for all sizes, once the variant is loaded
  std::chrono::milliseconds timeout{60'000};  // on top, until the driver counts as dead
};

// Loads the variant. For each problem size, launches it with local_work_size = NULL, compares the
// result with the reference, searches the work-group size of one kernel after the other, and at
// last measures the best sizes against NULL in alternation. Each problem size gets an equal share
// of the time left; a search ends early when its share is used up or the variant is far slower
// than the fastest one so far, and then the best size found counts. Returns one result for each
// problem size, in the order given; a variant that gives a wrong result at one size is not tried
// at the next.
std::vector<TunedVariant> tune_variant(const TuneJob &job);

struct DeviceMemory {
  bool is_cpu = false;
  std::uint64_t all = 0;       // bytes; 0: not known
  std::uint64_t greatest = 0;  // of one buffer, bytes
};

// Queried in a child process. Fails as OpenedDevice::open() does, and with Code::process if the
// driver died.
Result<DeviceMemory> ask_memory(const DeviceInfo &device);

}  // namespace kiln::builder
