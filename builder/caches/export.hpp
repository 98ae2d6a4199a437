// SPDX-License-Identifier: Apache-2.0
// What a pack holds, written into an application's cache.
#pragma once

#include <string>
#include <vector>

#include "builder/caches/application_cache.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Fails with Code::requirement if the variant is SPIR-V alone.
Result<CachedProgram> cached_program(const packs::Variant &variant);

// A device to write for: its own identity, and the pack's target whose binaries are exact for it.
struct ExportDevice {
  std::string label;
  runtime::Facts identity;
  const packs::Target *target = nullptr;
};

struct ExportOutcome {
  std::string program;
  std::string variant;
  std::string device;
  std::string file;    // below the cache's folder; empty if it was left out
  Status status = {};  // why it was
};

// Writes the binaries of each device, or the intermediate if there is no binary; a variant for
// which the target has neither gives no outcome. `program`: only this one; empty: all.
std::vector<ExportOutcome> export_binaries(const packs::Contents &contents,
                                           const std::vector<ExportDevice> &devices,
                                           const std::string &program, ApplicationCache *cache);

}  // namespace kiln::builder
