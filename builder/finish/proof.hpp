// SPDX-License-Identifier: Apache-2.0
// A new binary, loaded and launched once by a fresh process as an application would: through the
// runtime, from a pack.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "builder/device/device_info.hpp"
#include "builder/finish/launch_twice.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// What a device is as a target, without any binary.
packs::Target make_target(const DeviceInfo &device);

struct ProofRequest {
  const DeviceInfo &device;
  const packs::Program &program;
  const packs::Variant &variant;
  std::chrono::milliseconds timeout;  // of the process
  bool launch = true;                 // or load alone
  std::string cache;                  // folder of the driver's caches; empty: new, empty ones
};

struct Proof {
  Status loaded{};  // Code::process: the process ended, rather than the driver saying no
  std::optional<std::string> not_launched{};  // why there is no launch, of what was to be launched
  FirstLaunch launch{};
};

// `binary` is of the variant, for the device's exact rung; an `intermediate` is tried on that rung.
Proof prove(const ProofRequest &request, const packs::Binary &binary, bool intermediate);

// prove(), again and again while something seems to be compiled: a busy machine makes a launch
// late, but not three of them.
Proof prove_final(const ProofRequest &request, const packs::Binary &binary);

}  // namespace kiln::builder
