// SPDX-License-Identifier: Apache-2.0
// What an application's start costs until it has its first results: from source, from the driver's
// own binaries, from final code in memory, through Kiln.
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

// Milliseconds, each the median over fresh processes with empty driver caches; loading OpenCL,
// making the context and the memory that kernels work on are in none of them.
struct StartupTime {
  double kernels = 0;  // until every kernel exists
  double results = 0;  // until the first launch of every program is done; 0: nothing is executed
  std::size_t processes = 0;  // that were measured
};

// How a program was launched first through Kiln: the medians of its first and second launch.
struct FirstResult {
  std::string program;
  std::string variant;
  double first = 0;
  double second = 0;
  bool compiles = false;  // the driver's cache grew; else FirstLaunch::compiles() in every process
};

struct StartupRow {
  std::string device;
  std::size_t programs = 0;  // started in each process, one after the other
  bool executes = false;     // or builds and loads alone: then the times to the kernels count
  StartupTime source;        // clCreateProgramWithSource, build, kernels, launch
  StartupTime driver;        // the same with what clGetProgramInfo gives before any launch
  StartupTime floor;         // the same with the pack's binaries, from memory
  StartupTime kiln;          // open the pack, identify the device, load and launch every program
  StartupTime overlay;       // the second start of an application whose pack has no binary
  std::optional<std::size_t> overlay_compiling{};  // programs of the overlay's start that compile
  std::vector<FirstResult> firsts{};
  Status status{};  // a failure leaves no figures

  // What a person waits for.
  double waited(const StartupTime &time) const { return executes ? time.results : time.kernels; }
  double ratio(const StartupTime &time) const {
    return waited(floor) > 0 ? waited(time) / waited(floor) : 0;
  }
  double microseconds_above_floor() const {  // for each program
    return programs == 0 ? 0
                         : 1000 * (waited(kiln) - waited(floor)) / static_cast<double>(programs);
  }
  std::size_t compiling() const;  // programs that compile at their first launch
};

struct StartupOptions {
  std::string pack_path;
  std::string program;      // empty: all
  std::size_t rounds = 30;  // fresh processes of each kind; half of them for starts over a second
  std::chrono::milliseconds timeout{120'000};
};

// Measures one device: of each program that has a binary for it the variant and the work-group
// sizes that the runtime chooses, on a small problem. The five ways take turns, round by round, so
// that a drift of the machine's speed meets all of them.
StartupRow bench_startup(const packs::Contents &contents, const DeviceInfo &device,
                         const StartupOptions &options,
                         const std::function<void(std::size_t done, std::size_t all)> &progress);

// The row's part of schema 2.
nlohmann::json to_json(const StartupRow &row);

}  // namespace kiln::builder
