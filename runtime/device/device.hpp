// SPDX-License-Identifier: Apache-2.0
// A device with everything that the ladder needs to know, and the queries that fill its Identity
// and Capabilities, all through the table of entry points. Nothing is cached; any thread may call.
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

// Queries the platform and the device for all fields of an Identity. A field is absent if its query
// fails or reports more than 1 MiB. Strings are kept whole; only the NULs at their end are
// stripped. The UUIDs, the IP version and the IL version are queried only if the device lists the
// extension (or has the OpenCL version) that defines them. `extensions` gets the device's
// extensions as parse_extensions() returns them.
Identity query_identity(const OpenCL &cl, cl_platform_id platform, cl_device_id device,
                        std::vector<std::string> *extensions);

// Queries what the device can do. `identity` and `extensions` are the results of query_identity()
// for the same device, and are not queried again. The profile is left unchanged: describe() knows
// it.
Capabilities query_capabilities(const OpenCL &cl, cl_device_id device, const Identity &identity,
                                std::vector<std::string> extensions);

// Returns the highest level of the x86-64 psABI that the processor and the system support, such as
// "x86-64-v3"; null on other architectures. A fact of devices that are the processor: a virtual
// machine may hide instructions and keep the processor's name, and PoCL uses all that it finds.
const char *instruction_set();

// Returns the names in a driver's extension string, sorted, each once.
std::vector<std::string> parse_extensions(std::string_view text);

// Returns the SPIR-V versions in a CL_DEVICE_IL_VERSION string, ascending, each once: "SPIR-V_1.2
// SPIR-V_1.0" is {0x00010000, 0x00010200}. Skips other ILs and broken words.
std::vector<std::uint32_t> parse_il_versions(std::string_view text);

// A device, immutable after it was made; shared freely between threads.
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

// Lists every device of every platform, with the platforms in the ICD loader's order. Skips a
// platform that fails. Fails with Code::no_device if there is no platform or no device.
Status list_devices(const OpenCL &cl, std::vector<DeviceId> *out);

// Opens a device. A sub-device is retained.
std::shared_ptr<const Device> open_device(std::shared_ptr<const OpenCL> cl, DeviceId id);

// Creates a context with only this device. Leaves out hints for which the device has no extension
// or that the driver refuses; `*applied` (may be null) gets the KILN_HINT_* bits that were applied.
Status create_context(const Device &device, Handle<cl_context> *out, const ContextHints &hints = {},
                      unsigned *applied = nullptr);

// Reads the device's clock, which profiling uses, and the host's clock at the same time, in
// nanoseconds. Fails with Code::requirement if the platform or the device has no such call.
Status read_timers(const Device &device, cl_ulong *at_device, cl_ulong *at_host);

// Returns a label such as "NVIDIA H200 (driver 580.159.04)", from the identity of a device or a
// target.
std::string device_label(std::string_view name, std::string_view driver_version);

}  // namespace kiln::runtime
