// SPDX-License-Identifier: Apache-2.0
// How fast a device's own commands copy and fill memory: what a kernel that only moves bytes, or
// only writes them, could reach at best.
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
  bool cpu = false;                 // it is the host's processor
};

// The median of many calls of clEnqueueCopyBuffer with buffers larger than the device's caches,
// measured in a child process. A driver that copies wrongly, or not at all, is an error; `wall`
// and `bytes` are set all the same if copies were timed before the failure.
CopyBandwidth measure_copy_bandwidth(const DeviceInfo &device);

struct FillTime {
  double nanoseconds = 0;   // the median of many calls; 0: no figure
  std::size_t pattern = 0;  // bytes of the pattern
  bool wall = false;        // by the host's clock
  Status status;            // a failure leaves no figure
};

// Calls of clEnqueueFillBuffer that write `bytes`, at least 1, with a constant pattern: of 4, 16
// and 128 bytes, which is the longest that OpenCL has, the fastest that divides `bytes`; else of
// one byte. Measured in a child process, by the host's clock where `wall` says so or the device's
// is unusable. A driver that fills wrongly is an error.
FillTime measure_fill(const DeviceInfo &device, std::uint64_t bytes, bool wall);

// Whether the device's clock can be right: it may not count more time than the host waited, give
// or take the hundredth by which two clocks differ.
inline bool sensible_time(double device_nanoseconds, double host_nanoseconds) {
  return device_nanoseconds > 0 && device_nanoseconds <= 1.01 * host_nanoseconds;
}

}  // namespace kiln::builder
