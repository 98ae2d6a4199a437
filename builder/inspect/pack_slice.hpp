// SPDX-License-Identifier: Apache-2.0
// A part of a pack's contents: by names, or by the devices of a fleet and the targets that they
// take. Functions of values: no blob is read, so that each is written as it is stored.
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

// What is kept. Without `devices` all targets and records of any device; without `programs` all
// programs.
struct Cut {
  struct Devices {
    std::set<std::string> keys;      // of targets, or of devices that records name
    std::set<std::string> profiles;  // of tunings, which devices of one profile inherit
  };
  std::optional<Devices> devices{};
  std::optional<std::set<std::string>> programs{};
};

// Keeps of the programs, the targets and the binaries, tunings and cross-checks what `cut` names:
// of tunings those of its profiles and those for any device, of cross-checks those that name one of
// its keys on either side. With `programs`, a binary of no program is not kept, nor is a target
// that had binaries and has none left.
packs::Contents cut_contents(const packs::Contents &contents, const Cut &cut);

// Values of one member are alternatives; a target must have one of each member that is not empty.
struct SliceRequest {
  // 16 hexadecimal digits are the hash of a key; anything else is a target's key, or a glob over
  // its label or over its platform's or device's name.
  std::vector<std::string> targets;
  std::vector<std::string> families;
  std::vector<std::string> profiles;
  std::vector<std::string> programs;
};

// Fails with Code::not_in_pack where a value matches nothing, or no target matches all members; the
// message says what there is.
Result<Cut> find_slice(const packs::Contents &contents, const SliceRequest &request);

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
  std::string why;     // "exact match"
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
