// SPDX-License-Identifier: Apache-2.0
// Loading and launching one program through the runtime, in a process of its own.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "builder/device/device_info.hpp"
#include "builder/launch/session.hpp"

namespace kiln::builder {

struct RunRequest {
  std::string pack_path;
  DeviceInfo device;
  std::string program;
  std::string variant;                    // empty: the one that the runtime chooses
  unsigned flags = 0;                     // KILN_LOAD_*
  std::string overlay;                    // folder; empty: none
  std::chrono::milliseconds deadline{0};  // of one load, as in kiln_loader_options; 0: none
  bool unload = false;  // then the driver's compiler, and tell the resident memory
  bool launch = false;  // or load alone
  ProblemSize size;
  std::vector<Plane> inputs;  // in the order of program_shape()
  Parameters parameters;
  NDSize local{0, 0, 0};  // of every stage
  unsigned launches = 1;  // the times are those of the last
  std::chrono::milliseconds timeout{120'000};
};

struct RunResult {
  // With the code of the runtime's call that failed, or Code::opencl if the program was loaded
  // and cannot be launched, or where the process died.
  Status status;
  nlohmann::json report;    // the load report's document; null when it did not come to a load
  std::string report_text;  // the same for people
  std::string variant;      // the one that was taken
  Launched launched;        // after a launch
  std::vector<Plane> outputs;
};

// Everything that touches the driver happens in a child process: a driver that dies is a failed
// status here.
RunResult run_program(const RunRequest &request);

}  // namespace kiln::builder
