// SPDX-License-Identifier: Apache-2.0
// The queries that fill an Identity and Capabilities from a live device, all through the
// table of entry points. Nothing is cached; any thread may ask.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/identity/identity.hpp"
#include "runtime/identity/requirements.hpp"
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

}  // namespace kiln::runtime
