// Tuning one variant at one size, in a process that may die.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "plane.hpp"
#include "tune_result.hpp"

namespace kiln::builder {

struct TuneJob {
  const DeviceInfo *device = nullptr;
  std::string pack_path;
  std::string program;
  std::string variant;
  Size size;
  const std::vector<Plane> *inputs = nullptr;    // in the order of program_shape()
  const std::vector<Plane> *expected = nullptr;  // the reference's; empty: there is none
  double seconds = 1;                            // from the start of the process
  std::chrono::milliseconds timeout{60'000};     // on top, until the driver counts as dead
};

// Loads the variant, launches it with the sizes left to the driver, compares the result, then
// searches each kernel's work-group sizes, the others at the best known, and at last measures the
// best against the driver's sizes, taking turns. When `seconds` are over it takes what it has.
TunedVariant tune_variant(const TuneJob &job);

struct DeviceMemory {
  bool is_cpu = false;
  std::uint64_t all = 0;       // bytes; 0: not known
  std::uint64_t greatest = 0;  // of one buffer
};

// Asks in a process of its own. Empty on success, else what went wrong.
std::string ask_memory(const DeviceInfo &device, DeviceMemory *out);

}  // namespace kiln::builder
