// SPDX-License-Identifier: Apache-2.0
// Recognises that a driver was replaced by another one.
#pragma once

#include <cstdint>

#include "runtime/device/device.hpp"

namespace kiln::runtime {

// A number for the driver as it is on this machine now: the device's binary key, the file of
// the driver's library, the system's release. Another number means that nothing is proven.
std::uint64_t driver_number(const Device &device);

}  // namespace kiln::runtime
