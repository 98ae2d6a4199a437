// SPDX-License-Identifier: Apache-2.0
// Exports programs of a pack into an application's cache, and harvests binaries from a cache.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "builder/caches/application_cache.hpp"
#include "builder/device/device_info.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A device to export for: its own identity, and the target of the pack whose binaries are exact for
// it.
struct ExportDevice {
  std::string label;
  runtime::Facts identity;
  const packs::Target *target = nullptr;
};

struct ExportOutcome {
  std::string program;
  std::string variant;
  std::string device;
  std::string file;    // below the cache's folder; empty if nothing was written
  Status status = {};  // why nothing was written
};

// Writes the binaries for each device, or the intermediate if there is no binary; a variant for
// which the target has neither gives no outcome. Exports only `program`, or all programs if it is
// empty.
std::vector<ExportOutcome> export_binaries(const packs::Contents &contents,
                                           const std::vector<ExportDevice> &devices,
                                           const std::string &program, ApplicationCache *cache);

enum class Harvested {
  taken,
  absent,   // the cache has no binary for the variant
  no_key,   // the name in the cache is not known
  refused,  // found, but not usable
};

struct HarvestOutcome {
  std::string program;
  std::string variant;
  std::string device;
  Harvested what = Harvested::taken;
  Status status{};  // why no binary was taken
};

struct HarvestResult {
  packs::Contents contents;  // the base's, with a target for each device that got binaries
  std::vector<HarvestOutcome> outcomes;
};

// Called before each variant is looked up.
using HarvestProgress =
    std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Looks in the cache for each variant that the device can run. Fresh processes with empty driver
// caches load and launch what is found, with `timeout` for each, as prove_binaries() does. A binary
// that does not load, or that ends its process, is left out of the result. No binary is finished: a
// later build compiles again what it can finish. The caller is single-threaded and has loaded no
// driver.
HarvestResult harvest(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                      std::chrono::milliseconds timeout, ApplicationCache *cache,
                      const HarvestProgress &progress);

}  // namespace kiln::builder
