// What an application's start costs: from source, from bytes in memory, through Kiln.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "devices.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Milliseconds until every kernel of the measured variants exists (all that have a binary; of a
// program with an order of preference the first of these), each the median over
// fresh processes with empty driver caches; loading OpenCL and making the context are in
// none of them.
struct StartupRow {
  std::string device;
  std::size_t programs = 0;  // variants loaded in each process
  double source = 0;         // clCreateProgramWithSource, build, kernels
  double floor = 0;          // the driver given the binaries' bytes from memory
  double kiln = 0;           // open the pack, identify the device, load every variant
  double overlay = 0;        // the second start of an application whose pack has no binary
  std::string error;         // why there are no figures; empty when there are

  double ratio() const { return floor > 0 ? kiln / floor : 0; }
  double overlay_ratio() const { return floor > 0 ? overlay / floor : 0; }
  double microseconds_above_floor() const {  // for each program
    return programs == 0 ? 0 : 1000 * (kiln - floor) / static_cast<double>(programs);
  }
};

struct StartupOptions {
  std::string pack_path;
  std::string program;      // empty: all
  std::size_t rounds = 30;  // fresh processes of each kind
  std::chrono::milliseconds timeout{120'000};
};

// Measures one device. The four ways take turns, round by round, so that a drift of the
// machine's speed meets all of them. Only variants with a binary for this device count.
StartupRow bench_startup(const packs::Contents &contents, const DeviceInfo &device,
                         const StartupOptions &options,
                         const std::function<void(std::size_t done, std::size_t all)> &progress);

nlohmann::json to_json(const StartupRow &row);

}  // namespace kiln::builder
