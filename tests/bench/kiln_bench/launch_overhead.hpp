// SPDX-License-Identifier: Apache-2.0
// What a launch costs on the processor: the bare call, through Kiln, as part of a sequence.
#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"

namespace kiln::builder {

// Nanoseconds per launch until the call returns, with an event: medians over the rounds. The
// device's own work is waited for between the rounds and is not counted.
struct LaunchRow {
  std::string device;
  std::string program;
  std::string variant;
  double bare = 0;        // clEnqueueNDRangeKernel, and clReleaseEvent of the event before
  double kiln = 0;        // kiln_launch with the event used again
  double sequence = 0;    // kiln_sequence_run, divided by its launches
  std::string recording;  // "none", "command buffer", "recordable queue"
  Status status;          // a failure leaves no figures

  double above_bare() const { return kiln - bare; }
  double ratio() const { return bare > 0 ? kiln / bare : 0; }
};

struct LaunchBenchOptions {
  std::string pack_path;
  std::string program;         // empty: the first that the device can run
  std::size_t rounds = 100;    // of each kind, taking turns
  std::size_t launches = 100;  // in a round, and in the sequence
  std::chrono::milliseconds timeout{120'000};
};

// Measures one device in a process of its own, with a range of one work-group.
LaunchRow bench_launch(const DeviceInfo &device, const LaunchBenchOptions &options);

nlohmann::json to_json(const LaunchRow &row);

}  // namespace kiln::builder
