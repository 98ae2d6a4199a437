// SPDX-License-Identifier: Apache-2.0
// Options of all jobs of a build, and a job: one variant for one device.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "builder/finish/launch_sizes.hpp"
#include "builder/machine/device_info.hpp"
#include "builder/process/child_result.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::builder {

struct ResultCheck;

// Another variant that the job's binary serves; the binary must match its reference, too.
struct Duplicate {
  const packs::Program *program = nullptr;
  const packs::Variant *variant = nullptr;
  const ResultCheck *check = nullptr;
};

// Returns whether a variant may be packed only with a proof against the reference.
inline bool needs_proof(const packs::Variant &variant) {
  return runtime::requires_word(variant.requirements, runtime::kProof);
}

// Returns the part of a variant that the device compiles: its source, or its IL if the device takes
// no source; null if the device takes neither.
inline const packs::BlobSource *job_input(const packs::Variant &variant, const DeviceInfo &device) {
  const auto &capabilities = device.capabilities;
  if (variant.source && capabilities.compiler) return &*variant.source;
  const auto &il = capabilities.address_bits == 32 ? variant.il32 : variant.il64;
  const bool takes_il =
      !capabilities.il_versions.empty() && capabilities.il_versions.back() >= variant.il_version;
  return il && takes_il ? &*il : nullptr;
}

// Options of all jobs of a build.
struct JobOptions {
  CallLimits limits{std::chrono::minutes(2)};  // for each step in a process
  bool finish = true;                          // false: leave the driver's binaries as they are
  // False: the driver acts as a device that is not there. A launch that ends the process is then no
  // fault of the binary, and what it compiled before counts.
  bool has_hardware = true;
  // Compute capabilities for which NVIDIA's linker also makes code; 1000 means 10.0.
  std::vector<std::uint32_t> gpu_archs{};
};

struct Job : JobOptions {
  const DeviceInfo &device;
  const packs::Program &program;
  const packs::Variant &variant;
  TunedSizes tuned{};             // work-group sizes to finish for
  packs::Bytes device_entries{};  // from harvest_device_entries(), for drivers with a shader cache
  bool repeat_launches = true;    // repeat recorded launches to finish; may end the process
  std::vector<Duplicate> duplicates{};
  const ResultCheck *check = nullptr;    // comparison of results; null: none
  bool parallel = false;                 // other jobs compile at the same time
  bool launch_source = true;             // launch the built program if results are compared with it
  std::uint64_t build_microseconds = 0;  // the driver's time for the program; 0: not yet known
  std::size_t workaround = 0;            // 0: none; n: the n-th of workarounds_for()
  bool measure = false;                  // take the time of a launch, too
  // Of an earlier pack, to be proven again; null: to be made.
  const packs::Binary *earlier = nullptr, *earlier_intermediate = nullptr;
};

}  // namespace kiln::builder
