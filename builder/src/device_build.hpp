// The on-device build: every job in a process of its own, proven before it is kept.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "plan.hpp"

namespace kiln::builder {

struct BuildOptions {
  std::chrono::milliseconds timeout{120'000};  // for each process of a job, from its start
  std::size_t jobs = 1;                        // that run beside each other
};

// A job that gave no binary: what the driver said, or how it died.
struct JobFailure {
  std::string job;
  std::string text;
};

struct BuildResult {
  packs::Contents contents;  // base and one target for each distinct device
  std::vector<JobFailure> failures;
  std::size_t compiled = 0;
  std::size_t reused = 0;
  std::size_t skipped = 0;
};

// Told whenever jobs began or ended: the first of those that run, and how many are over.
using JobProgress = std::function<void(const std::string &job, std::size_t done, std::size_t all)>;

// Targets of `earlier` for other devices are kept, with those of their binaries that belong
// to a variant of `base`.
//
// Runs the plan for `devices` (as list_devices gave them). For each job to compile, a child
// process builds the program from its source (from IL where the device takes no source),
// creates the kernels, and only then reads the driver's binary; a second child gives the
// binary back to the driver and checks that it is taken. A crash, a hang or an error fails
// that job by name; the others complete. `options.jobs` of them run beside each other, but not
// two with the same source and options; the result is in the plan's order, however many there were.
BuildResult build_on_devices(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                             const std::vector<packs::Target> &earlier, const BuildOptions &options,
                             const JobProgress &progress);

}  // namespace kiln::builder
