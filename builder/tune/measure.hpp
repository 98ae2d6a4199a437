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
  const std::vector<Plane> *expected = nullptr;  // the reference's; empty: there is none
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

// Loads the variant, and for each size launches it with the work-group sizes left to the driver,
// compares the result, searches each kernel's sizes, the others at the best known, and at last
// measures the best against the driver's choice, taking turns. Each size gets an equal part of
// the time that is left; when a part is over, or the variant is far behind the fastest other, what
// is known by then is taken. One result for each size, in the order given; a variant that is
// rejected at one is not tried at those that follow.
std::vector<TunedVariant> tune_variant(const TuneJob &job);

struct DeviceMemory {
  bool is_cpu = false;
  std::uint64_t all = 0;       // bytes; 0: not known
  std::uint64_t greatest = 0;  // of one buffer
};

// Asks in a process of its own. Fails as OpenedDevice::open() does, and with Code::process where
// the driver died.
Result<DeviceMemory> ask_memory(const DeviceInfo &device);

}  // namespace kiln::builder
