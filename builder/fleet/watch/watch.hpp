// SPDX-License-Identifier: Apache-2.0
// kiln fleet watch: after a change of drivers or devices, brings a pack up to date before an
// application starts: fetches or builds what the devices' new keys lack, and provisions Mesa's
// cache. Linux.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/jobs/device_build.hpp"

namespace kiln::builder {

struct WatchOptions {
  std::string state;  // folder of what is kept for this pack
  std::string pack;
  std::string base;  // pack with the programs; empty: the pack's own
  std::string from;  // URL, published folder or folder of packs; empty: nothing is fetched
  std::uint64_t smallest_revision = 0;
  // File of trusted keys: one of them must have signed the index or, in a folder of packs, the
  // pack.
  std::string keys;
  std::string selector;
  bool no_build = false;
  bool is_signed = false;  // the fetched pack replaces the pack as it is
  bool ask = false;        // ask the devices although nothing has changed
  std::string folder;      // of Mesa's cache, or "none"
  bool full_speed = false;
  BuildOptions build;  // `store` and `input` are set by watch()
};

struct WatchEvents {
  std::function<void(const std::string &text)> complain;
  BuildObserver *progress = nullptr;
};

struct WatchEnd {
  nlohmann::json report;       // schema 1; "changed" is empty if nothing has changed
  bool is_provisioned = true;  // false: Mesa's cache could not be filled
};

// Returns the last run's report if nothing has changed since a run that did all it could. Fast: no
// driver is loaded.
std::optional<nlohmann::json> settled_report(const WatchOptions &options);

// One run. Fails with Code::no_device, with Code::bad_argument for options that exclude each other
// and if there is nothing to make the pack of, and as reading and writing packs does.
Result<WatchEnd> watch(const WatchOptions &options, const WatchEvents &events);

}  // namespace kiln::builder
