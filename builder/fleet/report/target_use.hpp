// SPDX-License-Identifier: Apache-2.0
// Finds which targets of a pack a fleet's devices take at a load.
#pragma once

#include <string>
#include <vector>

#include "builder/fleet/report/inventory.hpp"
#include "builder/inspect/pack_slice.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Why a device takes a target.
struct TargetUse {
  std::string device;  // its label
  std::string why;     // "exact match"
};

struct InventoryMatch {
  // For each target of the pack, its uses in the order of the devices; empty: no device takes it.
  std::vector<std::vector<TargetUse>> uses;
  std::vector<std::string> without;  // labels of devices that take none of the targets
};

// Matches devices with targets by the rules of a load. A device takes a target with its own binary
// key; and, on NVIDIA, a target with cubins for a lower minor compute capability, and a target with
// PTX if no other target has PTX of a higher capability for the device.
InventoryMatch match_inventory(const packs::Contents &contents,
                               const std::vector<FleetDevice> &devices);

// Returns the cut that keeps the matched targets, and the tunings of their profiles and the
// devices'.
Cut cut_of(const packs::Contents &contents, const InventoryMatch &match,
           const std::vector<FleetDevice> &devices);

}  // namespace kiln::builder
