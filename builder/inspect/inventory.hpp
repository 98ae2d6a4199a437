// SPDX-License-Identifier: Apache-2.0
// A fleet's devices, as `kiln devices --json` prints them, and which targets of a pack they take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/inspect/pack_slice.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::builder {

struct InventoryDevice {
  std::string label;
  runtime::Description description;  // as this version of Kiln makes it of the identity
};

// The devices of a text: one object of `kiln devices --json`, or an array of such objects. Fails
// with Code::bad_input; the message begins with `name` and says what is wrong with which device.
Result<std::vector<InventoryDevice>> parse_inventory(const std::string &text,
                                                     const std::string &name);
// The same of a file. One that cannot be read is Code::bad_input, too.
Result<std::vector<InventoryDevice>> read_inventory(const std::string &path);

// Why a device takes what a target has.
struct TargetUse {
  std::string device;  // its label
  std::string why;     // "its binary key is this one"
};

struct InventoryMatch {
  // For each target of the pack the uses, in the order of the devices; none: no device takes it.
  std::vector<std::vector<TargetUse>> uses;
  std::vector<std::string> without;  // labels of devices that take none of the targets
};

// By the rules of a load: a target is taken by a device with its binary key, by one of which a
// cross-check says so, by the vendor's rule unless a cross-check denies it, and for the PTX in it
// by an NVIDIA device for which no other target has PTX of a higher capability. `contents` is what
// `pack` has.
InventoryMatch match_inventory(const packs::Pack &pack, const packs::Contents &contents,
                               const std::vector<InventoryDevice> &devices);

// What remains: the targets that are taken, and the records of these and of the devices.
Cut cut_of(const packs::Contents &contents, const InventoryMatch &match,
           const std::vector<InventoryDevice> &devices);

}  // namespace kiln::builder
