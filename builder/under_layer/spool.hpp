// SPDX-License-Identifier: Apache-2.0
// Reads the output of `kiln record`: programs, and which starts built them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct Spool {
  packs::Contents contents;  // merged from all packs of the spool, without targets
  // Names of programs that only one start built, while each other start of the same command line,
  // at least two, built another with the same options and kernels: no pack can have the next one.
  // Sorted.
  std::vector<std::string> changing;
};

// Reads a spool. Fails with a pack's error code and the pack's name, and with Code::failed if the
// folder has no packs.
Result<Spool> read_spool(const std::string &folder);

// Returns the names for Spool::changing from the lines of the spool's file (docs/use/layer.md,
// "What a spool holds"). Skips incomplete lines, which killed processes leave.
std::vector<std::string> programs_with_varying_source(const packs::Contents &contents,
                                                      std::string_view starts);

}  // namespace kiln::builder
