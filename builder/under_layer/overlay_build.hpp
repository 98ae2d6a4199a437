// SPDX-License-Identifier: Apache-2.0
// Builds what the layer noted in an overlay: programs that no pack has, for later starts.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/jobs/device_build.hpp"
#include "builder/machine/device_info.hpp"

namespace kiln::builder {

// The folder in which a build locks out another one of the same overlay, and keeps the store of its
// finished jobs until nothing is noted any more.
std::string noted_folder(const std::string &overlay);

struct OverlayBuild {
  std::size_t built = 0;
  std::vector<JobFailure> failures;  // by program
  std::size_t other_drivers = 0;     // programs noted for drivers that are not here
  std::set<std::string> not_here;    // these drivers, for people
  std::size_t dropped = 0;           // programs noted for earlier drivers of the devices
};

// Builds the noted programs for the devices whose present drivers they were noted for, with the
// launches that were noted, and writes each to OVERLAY/programs. A program that a job failed for is
// not tried again with this driver, and the layer says why. Drops what was noted for an earlier
// driver of one of the devices. A killed build goes on from the last finished job; not in a folder
// that machines share, whose file system may have no locks, which a store needs. Fails with
// Code::io_error if the overlay cannot be used. `options` need no store. `observer` may be null.
//
// Call it with the folder locked, and again until nothing is noted: an application may note more
// meanwhile. Without locks, two builds at once do the same work twice.
Result<OverlayBuild> build_overlay(const std::string &overlay,
                                   const std::vector<DeviceInfo> &devices,
                                   const BuildOptions &options, bool is_shared,
                                   BuildObserver *observer);

// Returns how many builds of the overlay have ended, one after another, before they had built or
// refused a program.
std::size_t count_cut_off(const std::string &overlay);

// Removes what was noted.
Status clear_noted(const std::string &overlay);

}  // namespace kiln::builder
