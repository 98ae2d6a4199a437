// SPDX-License-Identifier: Apache-2.0
// The manifest: a TOML file that names programs, variants, build options, checks and
// launches. Reading one gives values; nothing here touches a device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A variant: what the pack will record of it, and where its code comes from.
struct ManifestVariant {
  packs::Variant record;          // without hash, source, IL and the kernels' argument counts; no
                                  // kernels: all that the source has
  std::filesystem::path source;   // the variant's own, else the program's; absolute or relative to
                                  // the working directory
  std::filesystem::path prelude;  // declares a vendor's built-ins for the host check; then, too,
  bool il = true;                 // no IL is made
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
};

// Reads and checks a manifest. Source files must exist; paths in it are relative to the
// manifest's folder. Unknown keys are errors, with the nearest known key as a suggestion.
// Fails with Code::bad_input for a fault in the manifest or in a file that it names. The message
// is whole and ready to print: file:line:column, the line, a caret, and what was expected.
Result<Manifest> read_manifest(const std::filesystem::path &path);

// The same from text; `path` names it in errors and gives the folder.
Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path &path);

}  // namespace kiln::builder
