// SPDX-License-Identifier: Apache-2.0
// Measuring one variant in a process that may die: checked first, then launched again and again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/device/device_info.hpp"
#include "builder/launch/session.hpp"
#include "builder/problem/plane.hpp"
#include "builder/tune/sampler.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A problem that the reference was run for.
struct CheckedProblem {
  ProblemSize size;
  const std::vector<Plane> *inputs = nullptr;
  const std::vector<Plane> *expected = nullptr;  // empty: there is no reference to check with
};

struct MeasuredProblem {
  ProblemSize size;
  const std::vector<Plane> *inputs = nullptr;
  CheckedProblem check;  // of the same size where the reference is cheap, else of a smaller one
};

// Everything that a child takes from its parent; all of it outlives the call.
struct VariantTask {
  const DeviceInfo *device = nullptr;
  std::string pack_path;
  const packs::Program *program = nullptr;
  const packs::Variant *variant = nullptr;
  std::vector<MeasuredProblem> problems;
  StopRule rule;
  double most_nanoseconds = 2e9;  // of a launch that is worth measuring
  bool wall = false;              // by the host's clock, whatever the device's says
};

// What one variant did with one problem.
struct VariantTime {
  std::optional<std::string> reason;  // why there are no figures
  bool failed = false;                // and that is a fault: a wrong result, an error, a death
  Check check = Check::unchecked;
  ProblemSize checked;        // the problem's size at the check
  std::vector<NDSize> local;  // of each stage, as launched
  std::string local_from;     // where the runtime has them from: "device", "guess"
  Statistics time;
  bool wall = false;       // `time` is by the host's clock
  double wall_median = 0;  // by the host's clock, from the first enqueue until all was done
};

struct VariantMeasurement {
  Status status;                   // of the load, without which there are no times
  std::string rung;                // "exact"
  std::vector<VariantTime> times;  // of each problem
};

// In a child process; a driver that dies or hangs is a failure. If it died and there are several
// problems, each is measured again in a process of its own.
VariantMeasurement measure_variant(const VariantTask &task);

// The variant that the runtime chooses for each of those sizes; "" if it finds none.
std::vector<std::string> chosen_variants(const DeviceInfo &device, const std::string &pack_path,
                                         const std::string &program,
                                         const std::vector<ProblemSize> &sizes);

}  // namespace kiln::builder
