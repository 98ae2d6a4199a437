// SPDX-License-Identifier: Apache-2.0
// What one job of a build is to make: a variant for a device.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/device/device_info.hpp"
#include "builder/finish/launch_sizes.hpp"
#include "builder/process/serving_child.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::builder {

struct ResultCheck;

// Another variant that the job's binary serves, and whose reference has to agree with it, too.
struct Twin {
  const packs::Program *program = nullptr;
  const packs::Variant *variant = nullptr;
  const ResultCheck *check = nullptr;
};

// Whether a variant is to be packed with a proof against the reference alone.
inline bool needs_proof(const packs::Variant &variant) {
  return runtime::requires_word(variant.requirements, runtime::kProof);
}

struct JobRequest {
  const DeviceInfo &device;
  const packs::Program &program;
  const packs::Variant &variant;
  CallLimits limits;   // of each step in a process
  bool finish = true;  // or leave the driver's binary as it is
  TunedSizes tuned{};  // for the work-group sizes to finish for
  // Compute capabilities, 1000 for 10.0, that NVIDIA's linker is to make code for, too.
  std::vector<std::uint32_t> also{};
  packs::Bytes opening{};       // as harvest_opening() gives it, for drivers with such a cache
  bool repeat_launches = true;  // recorded ones, to finish it; they may end the process
  std::vector<Twin> twins{};
  const ResultCheck *check = nullptr;  // what results are compared with; null: nothing
  bool parallel = false;               // other jobs compile at the same time
  bool launch_source = true;  // the program that was built, where results are compared with it
};

}  // namespace kiln::builder
