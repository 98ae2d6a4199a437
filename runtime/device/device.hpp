// SPDX-License-Identifier: Apache-2.0
// A device with everything that the ladder needs to know of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device/hints.hpp"
#include "runtime/device/query.hpp"
#include "runtime/identity/identity.hpp"
#include "runtime/opencl/error.hpp"
#include "runtime/opencl/handle.hpp"

namespace kiln::runtime {

// Immutable after it was made; shared freely between threads.
struct Device {
  std::shared_ptr<const OpenCL> cl;
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  Identity identity;
  Description description;
  Capabilities capabilities;

  const BinaryKey &key() const { return description.key; }
};

struct DeviceId {
  cl_platform_id platform;
  cl_device_id device;
};

// Every device of every platform, platforms in the loader's order. A platform that fails
// is passed over. No platform or no device is Code::no_device.
Status list_devices(const OpenCL &cl, std::vector<DeviceId> *out);

// A sub-device is retained.
std::shared_ptr<const Device> open_device(std::shared_ptr<const OpenCL> cl, DeviceId id);

// A context with that device alone. What the device has no extension for, or the driver
// refuses, is left out; `*applied` (may be null) gets the KILN_HINT_* bits that were applied.
Status create_context(const Device &device, Handle<cl_context> *out, const ContextHints &hints = {},
                      unsigned *applied = nullptr);

// The device's clock, which profiling tells, and the host's at the same time, in nanoseconds. Fails
// with Code::requirement where the platform or the device has no such call.
Status read_timers(const Device &device, cl_ulong *at_device, cl_ulong *at_host);

// "NVIDIA H200 (driver 580.159.04)", from the identity of a device or a target.
std::string device_label(std::string_view name, std::string_view driver_version);

}  // namespace kiln::runtime
