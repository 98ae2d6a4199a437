// SPDX-License-Identifier: Apache-2.0
// Commands of the program kiln, which lies beside this one: drivers are loaded there alone. POSIX.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Each function runs one command, and fails if that fails. What the command has said on standard
// error, which this process shares with it, the status does not say again: its message is empty.
// The status's code is one that ends kiln with the same exit code. The caller is single-threaded.

// A device, as `kiln devices` tells.
struct KnownDevice {
  std::string label;
  std::string profile;
  std::string key;
  std::string key_hash;
};

struct KnownDevices {
  std::vector<KnownDevice> devices{};
  std::vector<std::string> libraries{};  // files that their drivers had loaded
};
// Lists the devices that a selector names, as `kiln devices --device` does.
Result<KnownDevices> ask_devices(const std::string &selector);

// How `kiln build` is called for a pack of other people's, whose binaries serve whatever they were
// made from.
struct BuildCall {
  std::string pack;  // has the programs, and gets the binaries
  std::string selector;
  std::string references;  // folder in which they lie
  std::string store;       // file
  std::vector<std::string> options{};
};

// A job without a binary.
struct LackingJob {
  std::string job;  // its name in messages
  std::string variant;
  std::string key_hash;
  std::string reason;
};

// Returns the jobs that the pack has no binary of.
Result<std::vector<LackingJob>> lacking_jobs(const BuildCall &call);

// A job that ended without a binary, and why.
struct FailedJob {
  std::string job;
  std::string text;
};
// Builds what the pack lacks. Jobs that fail, for reasons that are returned, are no failure.
Result<std::vector<FailedJob>> build_lacking(const BuildCall &call);

// Puts the pack's code into Mesa's cache in that folder, or if it is empty in Mesa's own; returns
// the number of entries.
Result<std::size_t> provision_mesa(const std::string &pack, const std::string &folder);

}  // namespace kiln::builder
