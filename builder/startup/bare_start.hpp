// SPDX-License-Identifier: Apache-2.0
// Programs started without Kiln: what a start costs an application that makes the bare calls.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/launch/workload.hpp"

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

// The memory of a workload with its arguments, made before any clock runs.
class StartMemory {
 public:
  // Fails with Code::opencl.
  Status make(const OpenedDevice &child, const StartItem &item);

  // The bytes for each parameter of a stage.
  std::vector<std::vector<std::uint8_t>> arguments(std::size_t stage) const;

 private:
  const StartItem *item_ = nullptr;
  std::vector<runtime::Handle<cl_mem>> memories_;
};

enum class StartFrom { source, driver, binary };

// In a child process: builds every item with the bare calls, and launches it unless `launch` is
// false. Nothing is released. Fails with Code::opencl.
Status start_bare(const OpenedDevice &child, const std::vector<StartItem> &items, StartFrom from,
                  bool launch, StartTimes *out);

}  // namespace kiln::builder
