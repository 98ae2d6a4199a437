// SPDX-License-Identifier: Apache-2.0
// Cuts a part out of a pack's contents: by names, or by the targets that a fleet's devices take.
// Functions of values: no blob is read, so each blob is written as it is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::builder {

// The parts to keep. Without `devices`, all targets and records of any device; without `programs`,
// all programs.
struct Cut {
  struct Devices {
    std::set<std::string> keys;      // of targets
    std::set<std::string> profiles;  // of tunings, which all devices of a profile inherit
  };
  std::optional<Devices> devices{};
  std::optional<std::set<std::string>> programs{};
  bool without_source = false;  // of every program
  bool without_il = false;
};

// Keeps the programs, targets, binaries and tunings that `cut` names, and tunings for any device.
// With `programs`, drops binaries without a program, and targets that had binaries and
// have none left.
packs::Contents cut_contents(const packs::Contents &contents, const Cut &cut);

// Chooses targets and programs. Values of one member are alternatives; a target must match each
// member that is not empty.
struct SliceRequest {
  // Each is the hash of a key (16 hexadecimal digits), a target's key, or a glob over the target's
  // label, platform name or device name.
  std::vector<std::string> targets;
  std::vector<std::string> families;
  std::vector<std::string> profiles;
  std::vector<std::string> programs;
};

// Finds the parts to keep. Fails with Code::not_in_pack if a value matches nothing, or no target
// matches all members; the message lists the alternatives.
Result<Cut> find_slice(const packs::Contents &contents, const SliceRequest &request);

struct InventoryDevice {
  std::string label;
  runtime::Description description;  // made from the identity by this version of Kiln
};

// Parses the devices of an inventory: one object of `kiln devices --json`, or an array of such
// objects. Fails with Code::bad_input; the message begins with `name` and says which device has
// which fault.
Result<std::vector<InventoryDevice>> parse_inventory(const std::string &text,
                                                     const std::string &name);
// Parses the inventory in a file. Fails with Code::bad_input also if the file cannot be read.
Result<std::vector<InventoryDevice>> read_inventory(const std::string &path);

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
                               const std::vector<InventoryDevice> &devices);

// Returns the cut that keeps the matched targets, and the tunings of their profiles and the
// devices'.
Cut cut_of(const packs::Contents &contents, const InventoryMatch &match,
           const std::vector<InventoryDevice> &devices);

}  // namespace kiln::builder
