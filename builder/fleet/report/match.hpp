// SPDX-License-Identifier: Apache-2.0
// Decides what a device of a fleet would load from packs, by the functions that a load uses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "builder/fleet/report/inventory.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/pack.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::builder {

// What a device loads a program from, best first: the rungs from exact on, then two other values.
// `unknown`: only the device's identity is known, and the packs have no binary for it.
enum class FleetLoad : std::uint8_t { exact, none = runtime::kRungCount - 1, unknown };
inline constexpr std::size_t kFleetLoads = runtime::kRungCount + 1;
FleetLoad load_from(const runtime::Rung &rung);
// Returns the word of reports, or "unknown".
const char *fleet_load_name(FleetLoad load);

struct ProgramLoad {
  FleetLoad load = FleetLoad::none;
  bool is_for_device = true;  // false: the device can run none of the variants
};

// Returns what a device loads the program from; an overlay counts as absent, as on a new device.
// Chooses the variant and walks the ladder as a load does, but gives the driver nothing, so that a
// binary that the driver would refuse counts as loaded.
ProgramLoad load_of(const std::shared_ptr<const packs::Pack> &pack, const std::string &program,
                    const std::shared_ptr<const DescribedDevice> &device);

// Returns the device that a pack's target was built for, without capabilities.
std::shared_ptr<const DescribedDevice> device_of(const packs::Target &target);

}  // namespace kiln::builder
