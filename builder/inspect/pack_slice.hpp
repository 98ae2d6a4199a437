// SPDX-License-Identifier: Apache-2.0
// A part of a pack's contents, for `kiln slice` and `kiln prune`. Functions of values: no blob is
// read, so that each is written as it is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

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

// A line for each target: the hash of its key, its label, profile and family.
std::string list_targets(const packs::Contents &contents);

}  // namespace kiln::builder
