// SPDX-License-Identifier: Apache-2.0
// Opens each device once that has something to compile.
#include "builder/build/openings.hpp"

#include <algorithm>

#include "builder/finish/mesa_harvest.hpp"

namespace kiln::builder {

std::vector<packs::Bytes> harvest_openings(const std::vector<DeviceInfo> &devices,
                                           const std::vector<Job> &plan, bool finish,
                                           std::chrono::milliseconds timeout) {
  std::vector<packs::Bytes> openings(devices.size());
  for (std::size_t d = 0; d < devices.size() && finish; ++d) {
    const bool compiles = std::any_of(plan.begin(), plan.end(), [&](const Job &job) {
      return job.device == d && job.need == Need::compile;
    });
    if (compiles && devices[d].offline == nullptr &&
        devices[d].description.finishing == runtime::Finishing::shader_cache) {
      (void)harvest_opening(devices[d], timeout).move_to(&openings[d]);
    }
  }
  return openings;
}

}  // namespace kiln::builder
