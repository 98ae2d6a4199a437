// SPDX-License-Identifier: Apache-2.0
// What kiln fleet watch knows from its last run, and the cheap facts that show whether anything may
// have changed since. Linux.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Names of files, variables and other things, with what they are like.
using Facts = std::map<std::string, std::string>;

// Returns the facts that decide which devices there are and what their drivers compile, as far as
// they can be read without a driver: the ICD files, the linker's cache, the drivers' variables, the
// kernel's release, its DRM nodes and other device files, the usable CPUs.
//
// These facts, with the files that the drivers have loaded, do not show: a data file that a driver
// reads (libclc's bitcode, a driver's configuration, firmware), a library that a driver loads only
// when it compiles and that was replaced without running ldconfig, a device that has no node in
// /sys/class/drm or /dev, and a file that was replaced with its size, time and inode kept. After
// such a change `kiln fleet watch --ask` asks the devices all the same.
Facts system_facts();

// Adds the size, time of change and inode of a file, or that it is absent.
void add_file(const std::string &path, Facts *facts);

// Returns the first difference, such as "/etc/ld.so.cache has changed"; empty if there is none.
std::string first_difference(const Facts &before, const Facts &now);

struct WatchState {
  Facts facts{};
  std::vector<std::string> libraries{};  // files that the drivers had loaded
  // Hashes of the devices' keys that watch has seen here, the last seen first.
  std::vector<std::string> keys{};
  std::uint64_t revision = 0;  // highest that was fetched
  // Whether another run could do no more while the facts stay: false if a pack could not be
  // fetched, and what it was to bring was not built here either.
  bool settled = false;
  nlohmann::json report{};  // the last run's, as --json prints it
};

// Reads the state from a folder; an empty state if there is none. Fails with Code::failed for a
// file that cannot be read or is damaged; the message names it.
Result<WatchState> read_watch_state(const std::string &folder);

// Fails as write_whole_file() does, with Code::failed.
Status write_watch_state(const std::string &folder, const WatchState &state);

}  // namespace kiln::builder
