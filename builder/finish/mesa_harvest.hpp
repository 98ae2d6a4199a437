// SPDX-License-Identifier: Apache-2.0
// What Mesa writes to its shader cache when it opens a device.
#pragma once

#include <chrono>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "kiln/packs/bytes.hpp"

namespace kiln::builder {

// The cache entries that Mesa makes when it opens the device, as an auxiliary blob of the target,
// which may have no entries. Fails with Code::process if the driver died, and with Code::failed if
// Mesa made no cache at all.
Result<packs::Bytes> harvest_opening(const DeviceInfo &device, std::chrono::milliseconds timeout);

}  // namespace kiln::builder
