// SPDX-License-Identifier: Apache-2.0
// What `kiln record` left: programs, and which starts built them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct Spool {
  packs::Contents contents;  // of all its packs, without targets
  // Names of programs that only one start built, while each other start of the same command line
  // built another with the same options and kernels: no pack will have the next one. Sorted.
  std::vector<std::string> changing;
  // Names of what was linked of several programs, or with options, of which there is no pack: it
  // cannot be built offline. Sorted.
  std::vector<std::string> linked;
};

// Fails with the code of a pack's fault and its name, and with Code::failed if the folder has
// no packs.
Result<Spool> read_spool(const std::string &folder);

// The changing ones, by the lines of the spool's file (docs/layer.md, "What a spool holds"); lines
// that are incomplete, as a killed process leaves them, are skipped.
std::vector<std::string> changing_programs(const packs::Contents &contents,
                                           std::string_view starts);

}  // namespace kiln::builder
