// SPDX-License-Identifier: Apache-2.0
// Programs started by OpenCL's bare calls, and through Kiln: what a start costs an application.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/launch/workload.hpp"
#include "kiln/kiln.hpp"

namespace kiln::builder {

// A program to start: the variant that the runtime chooses, and all that loading and launching it
// takes, read before any clock runs.
struct StartItem {
  std::string program;
  std::string variant;
  std::string options;
  packs::Bytes source;
  packs::Bytes driver;        // the driver's binary before any launch
  packs::Bytes binary;        // the pack's
  bool intermediate = false;  // the binary is a form that the driver compiles whenever it loads it
  Workload workload;          // a small problem
  std::vector<std::array<std::size_t, 3>> local;  // of each stage, as the runtime chooses
};

// Milliseconds of one start of all items, one after the other.
struct StartTimes {
  double kernels = 0;            // until each item's kernels existed, without the launches
  double results = 0;            // until each item's first launch was done; 0: not launched
  std::vector<double> firsts{};  // the first launch of each item, and the second
  std::vector<double> seconds{};
  std::vector<bool> compiled{};  // whether each first launch was seen to compile; empty: not known
};

enum class StartFrom { source, driver, binary };

// In a child process: builds every item with the bare calls, and launches it unless `launch` is
// false. Nothing is released. Fails with Code::opencl.
Status start_bare(const OpenedDevice &child, const std::vector<StartItem> &items, StartFrom from,
                  bool launch, StartTimes *out);

// What Kiln is asked to load, and how.
struct KilnStart {
  std::string pack_path;
  std::string overlay;               // folder; empty: none
  kiln_rung rung = KILN_RUNG_EXACT;  // that everything must come from
  unsigned flags = KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE;
  bool finish = false;  // afterwards make the overlay's binaries final
  // The drivers' caches of this process, to see in them what launches compile; that takes time, so
  // such a start is not measured. Empty: not looked at.
  std::string caches{};
};

// In a child process: opens Kiln, loads every item and launches it unless `launches` is false.
// After a failure `*out` holds the times up to it.
Status start_kiln(const OpenedDevice &child, const std::vector<StartItem> &items,
                  const KilnStart &how, bool launches, StartTimes *out);

}  // namespace kiln::builder
