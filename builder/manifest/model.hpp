// SPDX-License-Identifier: Apache-2.0
// The manifest as values, for the code that reads its parts and for the host step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Named folders outside the manifest's, absolute or relative to the working directory.
using Roots = std::map<std::string, std::filesystem::path>;

// A variant: its record in the pack, and where its code comes from.
struct ManifestVariant {
  packs::Variant record;          // without hash, source, IL and the kernels' argument counts; no
                                  // kernels means all kernels of the source
  std::filesystem::path source;   // the variant's own, else the program's; absolute or relative to
                                  // the working directory
  std::filesystem::path prelude;  // declares a vendor's built-ins for the host check; then, too,
  bool il = true;                 // no IL is made
  bool only_warn = false;         // whether it is shipped even if the host check fails
};

struct ManifestProgram {
  packs::Program record;  // without variants
  std::vector<std::filesystem::path> include_dirs;
  std::vector<ManifestVariant> variants;  // sorted by name
};

struct Manifest {
  std::vector<ManifestProgram> programs;        // sorted by name
  std::uint32_t spirv_version = 0x00010000;     // cap, as in the SPIR-V header: 1.0
  std::vector<std::uint32_t> address_bits{64};  // 32, 64 or both, ascending, no duplicates
  Roots roots{};
};

}  // namespace kiln::builder
