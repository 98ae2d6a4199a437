// SPDX-License-Identifier: Apache-2.0
// Detects that a driver was replaced.
#pragma once

#include <cstdint>

#include "runtime/device/device.hpp"

namespace kiln::runtime {

// Returns a number for the present driver on this machine, made from the device's binary key, the
// files of the driver's library and of the libraries that it needs, and the system's release. When
// the number changes, nothing is proven. Reads no file.
std::uint64_t driver_number(const Device &device);

}  // namespace kiln::runtime
