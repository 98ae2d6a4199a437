// SPDX-License-Identifier: Apache-2.0
// How fast a device copies memory: what a kernel that only moves bytes could reach at best.
#pragma once

#include <cstdint>
#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"

namespace kiln::builder {

struct CopyBandwidth {
  double gigabytes_per_second = 0;  // 10^9 bytes, those read and those written
  std::uint64_t bytes = 0;          // of the buffer that was copied
  bool wall = false;                // measured with the host's clock; the device's is unusable
  Status status;                    // a failure leaves no figure
  bool opened = false;              // the device could be used at all
};

// The median of many calls of clEnqueueCopyBuffer with buffers larger than the device's caches,
// measured in a child process. A driver that copies wrongly, or not at all, is an error; `wall`
// and `bytes` are set all the same if copies were timed before the failure.
CopyBandwidth measure_copy_bandwidth(const DeviceInfo &device);

// Whether the device's clock can be right: it may not count more time than the host waited, give
// or take the hundredth by which two clocks differ.
inline bool sensible_time(double device_nanoseconds, double host_nanoseconds) {
  return device_nanoseconds > 0 && device_nanoseconds <= 1.01 * host_nanoseconds;
}

}  // namespace kiln::builder
