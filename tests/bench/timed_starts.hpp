// SPDX-License-Identifier: Apache-2.0
// Starts programs by OpenCL's bare calls and through Kiln, to measure what a start costs an
// application.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/run/workload.hpp"
#include "kiln/kiln.hpp"

namespace kiln::test {

// A program to start: the variant that the runtime chooses, and everything that is needed to load
// and launch it, read before any clock runs.
struct StartItem {
  std::string program;
  std::string variant;
  std::string options;
  packs::Bytes source;
  packs::Bytes driver;         // the driver's binary before any launch
  packs::Bytes binary;         // from the pack
  bool intermediate = false;   // the driver compiles the binary whenever it loads it
  builder::Workload workload;  // a small problem
  std::vector<std::array<std::size_t, 3>> local;  // for each stage, chosen by the runtime
};

// Milliseconds of one start of all items, one after the other.
struct StartTimes {
  double kernels = 0;            // until each item's kernels existed, without the launches
  double results = 0;            // until each item's first launch was done; 0: not launched
  std::vector<double> firsts{};  // the first launch of each item; `seconds`: the second launch
  std::vector<double> seconds{};
  std::vector<bool> compiled{};  // whether each first launch compiled; empty: unknown
};

enum class StartFrom { source, driver, binary };

// Builds every item with the bare calls, and launches it unless `launch` is false. Call in a child
// process: nothing is released. Fails with Code::opencl.
builder::Status start_bare(const builder::OpenedDevice &child, const std::vector<StartItem> &items,
                           StartFrom from, bool launch, StartTimes *out);

// What Kiln must load, and how.
struct KilnStart {
  std::string pack_path;
  std::string overlay;               // folder; empty: none
  kiln_rung rung = KILN_RUNG_EXACT;  // that must give every program
  unsigned flags = KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE;
  bool finish = false;  // make the overlay's binaries final afterwards
  // The folder of this process's driver caches, to see in it what launches compile. Looking takes
  // time, so such a start is not measured. Empty: not looked at.
  std::string caches{};
  // Threads that load the programs by kiln_prefetch(); 0: the application loads one after another.
  std::size_t threads = 0;
  bool steps = false;  // take the steps of each load one by one, and launch nothing
};

// Opens Kiln, loads every item and launches it unless `launches` is false. Call in a child process.
// After a failure `*out` holds the times measured before it.
builder::Status start_kiln(const builder::OpenedDevice &child, const std::vector<StartItem> &items,
                           const KilnStart &how, bool launches, StartTimes *out);

}  // namespace kiln::test
