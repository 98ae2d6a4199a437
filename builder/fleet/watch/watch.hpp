// SPDX-License-Identifier: Apache-2.0
// kiln fleet watch: after a change of drivers or devices, brings a pack up to date before an
// application starts: fetches or builds what the devices' new keys lack, and provisions Mesa's
// cache. Loads no driver: the program kiln does that. Linux.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

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
  std::string folder;      // of Mesa's cache, or "none"; empty: Mesa's own
  bool full_speed = false;
  std::string references{};  // folder in which they lie; empty: where the programs' pack lies
  std::vector<std::string> build{};  // other options of `kiln build`
};

using Complain = std::function<void(const std::string &text)>;

struct WatchEnd {
  nlohmann::json report;  // schema 1; "changed" is empty if nothing has changed
  // Mesa's cache could not be filled, or with `is_signed` the release lacks a device.
  bool has_failed = false;
};

// Returns the last run's report if nothing has changed since a run that did all it could. Fast: no
// driver is loaded.
std::optional<nlohmann::json> settled_report(const WatchOptions &options);

// One run. Fails with Code::no_device, with Code::bad_argument for options that exclude each other
// and if there is nothing to make the pack of, as reading and writing packs does, and without a
// message if a command of kiln's has failed and said why.
Result<WatchEnd> watch(const WatchOptions &options, const Complain &complain);

}  // namespace kiln::builder
