// SPDX-License-Identifier: Apache-2.0
// A device with everything that the ladder needs to know of it, and the queries that fill its
// Identity and Capabilities, all through the table of entry points. Nothing is cached; any thread
// may ask.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/hints.hpp"
#include "runtime/identity/identity.hpp"
#include "runtime/identity/requirements.hpp"
#include "runtime/opencl/error.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::runtime {

// Asks the platform and the device everything that an Identity holds. A query that fails,
// or reports more than a mebibyte, is absent. Strings are whole: only the
// NULs at their end are stripped. The UUIDs, the IP version and the IL version are asked
// only of a device that lists the extension (or has the OpenCL version) that defines them.
// `extensions` gets the device's extensions as parse_extensions gives them.
Identity query_identity(const OpenCL &cl, cl_platform_id platform, cl_device_id device,
                        std::vector<std::string> *extensions);

// Asks what the device can do. `identity` and `extensions` are what query_identity gave for
// the same device, so that what they already say is not asked again. The profile is left as
// it is: describe() knows it.
Capabilities query_capabilities(const OpenCL &cl, cl_device_id device, const Identity &identity,
                                std::vector<std::string> extensions);

// The names in a driver's extension string, sorted, each once.
std::vector<std::string> parse_extensions(std::string_view text);

// The SPIR-V versions in a CL_DEVICE_IL_VERSION string, ascending, each once:
// "SPIR-V_1.2 SPIR-V_1.0" is {0x00010000, 0x00010200}. Other ILs and broken words are
// passed over.
std::vector<std::uint32_t> parse_il_versions(std::string_view text);

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
