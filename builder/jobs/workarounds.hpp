// SPDX-License-Identifier: Apache-2.0
// What is done about a variant that a driver builds wrongly: other ways to build it (other build
// options, or SPIR-V instead of source; each is the same computation), and known-bad notes, which
// tell devices. Pure.
#pragma once

#include <string>
#include <vector>

#include "builder/machine/device_info.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Returns build options as they stand between spaces; an option with a quoted space is in parts.
std::vector<std::string> option_words(const std::string &options);
std::string joined_options(const std::vector<std::string> &words);

struct Workaround {
  std::string name;  // "-cl-opt-disable", "without -cl-mad-enable", "SPIR-V instead of source"
  packs::Variant variant;      // to be built; with the hash of the variant that it replaces
  bool is_il = false;          // the driver gets the IL, with the variant's own options
  bool is_other_text = false;  // which a driver may take that refuses the variant's
};

// Returns the workarounds for the device, the one to try first in front: each of the manifest's,
// without each option that lets a compiler compute inaccurately, without optimization, by the next
// lower -cl-std, and SPIR-V.
std::vector<Workaround> workarounds_for(const packs::Variant &variant, const DeviceInfo &device);

// Returns a note, without a reason, about one variant on the device's driver: rungs at which a
// device compiles it as it says: source and, unless `il_is_right`, IL. The exact rung stays, for a
// binary with a workaround.
packs::KnownBad found_note(const packs::Program &program, const packs::Variant &variant,
                           const DeviceInfo &device, bool il_is_right);

}  // namespace kiln::builder
