// SPDX-License-Identifier: Apache-2.0
// Loads and launches one program through the runtime, in a process of its own.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "builder/machine/device_info.hpp"
#include "builder/run/repeated_launch.hpp"
#include "builder/run/session.hpp"

namespace kiln::builder {

struct RunRequest {
  std::string pack_path;
  DeviceInfo device;
  std::string program;
  std::string variant;  // empty: the runtime chooses
  unsigned flags = 0;   // KILN_LOAD_*
  std::string overlay;  // folder; empty: none
  bool launch = false;  // false: only load
  bool prints = false;  // bring back what kernels print
  ProblemSize size;
  std::vector<Plane> inputs;  // in the order of program_shape()
  Parameters parameters;
  NDSize local{0, 0, 0};                         // for every stage
  MemoryContent content = MemoryContent::zeros;  // before a recorded launch
  std::chrono::milliseconds timeout{120'000};
};

struct RunResult {
  // Has the code of the runtime's call that failed, or Code::opencl if the program was loaded but
  // cannot be launched, or if the process died.
  Status status;
  nlohmann::json report;    // load report; null if no load was tried
  std::string report_text;  // load report for people
  std::string variant;      // name of the loaded variant
  Launched launched;        // after a launch
  std::vector<Plane> outputs;
  std::vector<std::uint64_t> memory;  // a hash for each recorded launch: of all its memory
  // The end, at least 64 KiB, of what driver and kernels printed, if asked for.
  std::string printed;
};

// Returns the load report of each program of the pack without giving the driver anything: of a dry
// run, with the member `estimated_milliseconds`, which is null if the pack has no time. Uses the
// request's pack, device, flags and overlay. Fails as run_program() does.
Result<std::vector<nlohmann::json>> dry_run_loads(const RunRequest &request);

// Calls the driver only in a child process: if the driver dies, the result is a failed status.
RunResult run_program(const RunRequest &request);

}  // namespace kiln::builder
