// SPDX-License-Identifier: Apache-2.0
// What Mesa writes to its shader cache, where rusticl keeps final code, taken from a launch.
#pragma once

#include <chrono>

#include "builder/finish/proof.hpp"

namespace kiln::builder {

// The cache entries that Mesa makes when it opens the device, as an auxiliary blob of the target,
// which may have no entries. Fails with Code::process if the driver died, and with Code::failed if
// Mesa made no cache at all.
Result<packs::Bytes> harvest_opening(const DeviceInfo &device, std::chrono::milliseconds timeout);

// Loads and launches the binary in a process whose cache is empty. Returns the entries that Mesa
// then wrote, without those of `opening`, as an auxiliary blob of the variant. Fails as prove()
// does, and with Code::failed if the kernel could not be launched or Mesa made no cache.
Result<packs::Bytes> harvest_mesa(const ProofRequest &request, const packs::Binary &binary,
                                  const packs::Bytes &opening);

}  // namespace kiln::builder
