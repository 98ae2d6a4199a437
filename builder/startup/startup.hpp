// SPDX-License-Identifier: Apache-2.0
// Measures what an application's start costs until the first results: from source, from the
// driver's own binaries, from final code in memory, and through Kiln.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Milliseconds, each the median over fresh processes with empty driver caches. The times do not
// include loading OpenCL or making the context and the memory for kernels.
struct StartupTime {
  double kernels = 0;         // until every kernel exists
  double results = 0;         // until the first launch of every program ends; 0: not executed
  std::size_t processes = 0;  // number of measured processes
};

// The first result of a program through Kiln: the medians of its first and second launch.
struct FirstResult {
  std::string program;
  std::string variant;
  double first = 0;
  double second = 0;
  bool compiles = false;  // the driver's cache grew; else FirstLaunch::compiles() in every process
};

struct StartupRow {
  std::string device;
  std::size_t programs = 0;  // number started in each process, one after the other
  bool launches = true;      // false: no launch of the programs is known
  bool executes = false;     // false: only builds and loads, so the times to the kernels count
  StartupTime source;        // clCreateProgramWithSource, build, kernels, launch
  StartupTime driver;        // the same with the binary from clGetProgramInfo before any launch
  StartupTime floor;         // the same with the pack's binaries, from memory
  StartupTime kiln;          // open the pack, identify the device, load and launch every program
  StartupTime overlay;       // the second start of an application whose pack has no binary
  std::optional<std::size_t> overlay_compiling{};  // programs that compile in the overlay's start
  std::vector<FirstResult> firsts{};
  Status status{};  // after a failure there are no figures

  // Returns the time that a person waits.
  double waited(const StartupTime &time) const { return executes ? time.results : time.kernels; }
  double ratio(const StartupTime &time) const {
    return waited(floor) > 0 ? waited(time) / waited(floor) : 0;
  }
  double microseconds_above_floor() const {  // microseconds for each program
    return programs == 0 ? 0
                         : 1000 * (waited(kiln) - waited(floor)) / static_cast<double>(programs);
  }
  std::size_t compiling() const;  // number of programs that compile at their first launch
};

struct StartupOptions {
  std::string pack_path;
  std::string program;      // empty: all
  std::size_t rounds = 30;  // fresh processes of each kind; half as many for starts over 1 s
  std::chrono::milliseconds timeout{120'000};
};

// Measures one device on a small problem. Of each program with a binary for the device, uses the
// variant and the work-group sizes that the runtime chooses; leaves out programs that Kiln cannot
// launch, or, if it can launch none, measures all of them until their kernels exist. The five ways
// to start take turns, round by round, so that a change of the machine's speed affects all of them.
StartupRow bench_startup(const packs::Contents &contents, const DeviceInfo &device,
                         const StartupOptions &options,
                         const std::function<void(std::size_t done, std::size_t all)> &progress);

// Returns the row as schema 2 shows it.
nlohmann::json to_json(const StartupRow &row);

}  // namespace kiln::builder
