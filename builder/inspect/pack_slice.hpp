// SPDX-License-Identifier: Apache-2.0
// Cuts a part out of a pack's contents by names; builder/fleet/report/target_use.hpp finds what a
// fleet needs. Functions of values: no blob is read, so each blob is written as it is stored.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The parts to keep. Without `devices`, all targets and records of any device; without `programs`,
// all programs.
struct Cut {
  struct Devices {
    std::set<std::string> keys;      // of targets
    std::set<std::string> profiles;  // of tunings, which all devices of a profile inherit, and of
                                     // notes
  };
  std::optional<Devices> devices{};
  std::optional<std::set<std::string>> programs{};
  bool without_source = false;  // of every program
  bool without_il = false;
};

// Keeps the programs, targets, binaries and tunings that `cut` names, tunings for any device, and
// the known-bad notes that may be about what is kept. With `programs`, drops binaries without a
// program, and targets that had binaries and have none left.
packs::Contents cut_contents(const packs::Contents &contents, const Cut &cut);

// Chooses targets and programs.
struct SliceRequest {
  // Each is the hash of a key (16 hexadecimal digits), a target's key, or a glob over the target's
  // label, platform name, device name, family or vendor profile.
  std::vector<std::string> targets;
  std::vector<std::string> programs;
};

// Finds the parts to keep. Fails with Code::not_in_pack if a value matches nothing; the message
// lists the alternatives.
Result<Cut> find_slice(const packs::Contents &contents, const SliceRequest &request);

}  // namespace kiln::builder
