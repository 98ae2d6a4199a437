// SPDX-License-Identifier: Apache-2.0
// Tuning of one variant, in a process that may die, and the sizes from which its search starts.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "builder/problem/plane.hpp"
#include "builder/run/pack_on_device.hpp"
#include "builder/run/workload.hpp"
#include "builder/tune/tuned_program.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

using runtime::NDSize;

// The work-group sizes from which a search starts: the sizes that the runtime uses without a
// measurement.
struct Seeds {
  NDSize own{0, 0, 0};        // the variant's own; zeros: none
  NDSize suggested{0, 0, 0};  // by the driver; zeros: none, or it cannot be launched
  NDSize guess{1, 1, 1};      // by the runtime, without asking the driver
  NDSize driver{0, 0, 0};     // chosen by a driver that does not suggest sizes; zeros: not known

  // The reason why the suggestion cannot be launched; empty: it can, or there is none. If there is
  // a reason, `refused_local` holds the size that the driver suggested, or zeros if the driver
  // failed.
  std::string refused;
  NDSize refused_local{0, 0, 0};

  // Returns the sizes that exist, in the order in which the runtime tries them, each once.
  std::vector<NDSize> sizes() const;
};

// Finds the sizes, and asks the driver if it suggests sizes. The kernel's arguments must be set.
Seeds find_seeds(const PackOnDevice &opened, cl_kernel kernel, const packs::Variant &variant,
                 const Stage &stage, const runtime::WorkGroupLimits &limits);

// One size of the problem, with data for it.
struct TuneWork {
  ProblemSize size;
  const std::vector<Plane> *inputs = nullptr;    // in the order of program_shape()
  const std::vector<Plane> *expected = nullptr;  // by the reference; empty: not checked
  double best = 0;  // nanoseconds of the fastest other variant; 0: none yet
};

struct TuneRequest {
  const DeviceInfo *device = nullptr;
  std::string pack_path;
  std::string program;
  std::string variant;
  std::vector<TuneWork> works;
  double seconds = 1;                         // for all sizes, once the variant is loaded
  std::chrono::milliseconds timeout{60'000};  // added to `seconds`; then the driver counts as dead
};

// Loads the variant. For each problem size, launches it with local_work_size = NULL, compares the
// result with the reference, searches the work-group size of one kernel after the other, and
// finally measures the best sizes and NULL in turns. Each problem size gets an equal share of the
// time left. A search ends early when its share is used up or the variant is far slower than the
// fastest one so far; then the best size found counts. Returns one result for each problem size, in
// the order given. If a variant gives a wrong result at one size, the following sizes are not
// tried.
std::vector<TunedVariant> tune_variant(const TuneRequest &job);

struct DeviceMemory {
  bool is_cpu = false;
  std::uint64_t all = 0;       // bytes; 0: unknown
  std::uint64_t greatest = 0;  // largest buffer, bytes
};

// Asks the device in a child process. Fails as OpenedDevice::open() does, and with Code::process if
// the driver died.
Result<DeviceMemory> ask_memory(const DeviceInfo &device);

}  // namespace kiln::builder
