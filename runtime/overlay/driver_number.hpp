// SPDX-License-Identifier: Apache-2.0
// Detects that a driver was replaced, and that the machine was started anew.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/device/device.hpp"

namespace kiln::runtime {

// Returns a number for the present driver on this machine, made from the device's binary key, the
// files of the driver's library and of the libraries that it needs, and the system's release. When
// the number changes, nothing is proven. Reads no file.
std::uint64_t driver_number(const Device &device);

// Returns a text that changes whenever the machine starts; empty if the system has none.
std::string boot_id();

}  // namespace kiln::runtime
