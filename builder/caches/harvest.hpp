// SPDX-License-Identifier: Apache-2.0
// Binaries of an application's cache on their way into a pack. Whoever wrote the cache is not
// trusted: what is found is in quarantine until it is proven here, as a binary that was just
// compiled is.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "builder/caches/application_cache.hpp"
#include "builder/device/device_info.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

enum class Harvested {
  taken,
  absent,   // the cache has nothing for it
  no_key,   // what the application would look for is not known
  refused,  // it was found and not taken
};

struct HarvestOutcome {
  std::string program;
  std::string variant;
  std::string device;
  Harvested what = Harvested::taken;
  Status status{};  // why it was not taken
};

struct HarvestResult {
  packs::Contents contents;  // the base's, with a target for each device that something is for
  std::vector<HarvestOutcome> outcomes;
};

// Told before each proof.
using HarvestProgress =
    std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Looks for each variant that the device can run. What is found is loaded and launched by fresh
// processes with empty driver caches, `timeout` each, as prove_binaries() does; what does not load,
// or ends the process, is not in the result. None is finished: a later build compiles those that it
// can finish again. The caller is single-threaded and has loaded no driver.
HarvestResult harvest(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                      std::chrono::milliseconds timeout, ApplicationCache *cache,
                      const HarvestProgress &progress);

}  // namespace kiln::builder
