// SPDX-License-Identifier: Apache-2.0
// Between packs and applications' caches: exporting programs into a cache, and harvesting one.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "builder/caches/application_cache.hpp"
#include "builder/device/device_info.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A device to write for: its own identity, and the pack's target whose binaries are exact for it.
struct ExportDevice {
  std::string label;
  runtime::Facts identity;
  const packs::Target *target = nullptr;
};

struct ExportOutcome {
  std::string program;
  std::string variant;
  std::string device;
  std::string file;    // below the cache's folder; empty if it was left out
  Status status = {};  // why it was
};

// Writes the binaries of each device, or the intermediate if there is no binary; a variant for
// which the target has neither gives no outcome. `program`: only this one; empty: all.
std::vector<ExportOutcome> export_binaries(const packs::Contents &contents,
                                           const std::vector<ExportDevice> &devices,
                                           const std::string &program, ApplicationCache *cache);

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
