// SPDX-License-Identifier: Apache-2.0
// What drivers compile whenever they are opened.
#pragma once

#include <chrono>
#include <vector>

#include "builder/build/plan.hpp"

namespace kiln::builder {

// Of each device for which something is to be compiled and finished, as harvest_opening() gives it;
// empty where the driver has no cache for that. A harvest that fails is seen by the jobs.
std::vector<packs::Bytes> harvest_openings(const std::vector<DeviceInfo> &devices,
                                           const std::vector<Job> &plan, bool finish,
                                           std::chrono::milliseconds timeout);

}  // namespace kiln::builder
