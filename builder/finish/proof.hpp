// SPDX-License-Identifier: Apache-2.0
// A new binary, loaded and launched once by a fresh process as an application would: through the
// runtime, from a pack.
#pragma once

#include <chrono>
#include <string>

#include "builder/device/device_info.hpp"
#include "builder/finish/launch_sizes.hpp"
#include "builder/finish/launch_twice.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The target of a device, without binaries.
packs::Target make_target(const DeviceInfo &device);

struct ProofRequest {
  const DeviceInfo &device;
  const packs::Program &program;
  const packs::Variant &variant;
  std::chrono::milliseconds timeout;  // of the process
  TunedSizes tuned{};                 // for recorded launches that gave no size
  bool launch = true;                 // or load alone
  std::string cache{};                // folder of the driver's caches; empty: new, empty ones
};

struct Proof {
  Status loaded{};    // Code::process: the process ended, rather than the driver saying no
  Status launched{};  // a failure: why a requested launch did not happen
  FirstLaunch launch{};
};

// Loads the variant's `binary` by the exact rung, or by the intermediate rung if `intermediate`.
Proof prove(const ProofRequest &request, const packs::Binary &binary, bool intermediate);

// prove(), repeated up to six times while the first launch seems to compile: a busy machine may
// delay one launch, or three, but not six.
Proof prove_final(const ProofRequest &request, const packs::Binary &binary);

}  // namespace kiln::builder
