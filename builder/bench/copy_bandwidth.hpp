// SPDX-License-Identifier: Apache-2.0
// How fast a device copies memory: what a kernel that only moves bytes could reach at best.
#pragma once

#include <cstdint>
#include <string>

#include "builder/device/device_info.hpp"

namespace kiln::builder {

struct CopyBandwidth {
  double gigabytes_per_second = 0;  // 10^9 bytes, those read and those written
  std::uint64_t bytes = 0;          // of the buffer that was copied
  bool wall = false;                // by the host's clock: the device's tells nothing sensible
  std::string error;                // why there is no figure; empty when there is one
  bool opened = false;              // the device could be used at all
};

// The median of many clEnqueueCopyBuffer of a buffer that no cache of the device holds, in a
// process of its own. A driver that copies wrongly, or not at all, gives an error. Whether the
// device's clock is sensible is told also then, where it came so far.
CopyBandwidth measure_copy_bandwidth(const DeviceInfo &device);

// Whether a time on the device's clock can be the time of what the host waited for; two clocks
// may differ by a hundredth.
inline bool sensible_time(double device_nanoseconds, double host_nanoseconds) {
  return device_nanoseconds > 0 && device_nanoseconds <= 1.01 * host_nanoseconds;
}

}  // namespace kiln::builder
