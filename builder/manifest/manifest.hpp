// SPDX-License-Identifier: Apache-2.0
// Reads the manifest: a TOML file that names programs, variants, build options, checks and
// launches. Returns values; nothing here touches a device.
#pragma once

#include <filesystem>
#include <string_view>

#include "builder/base/builder_status.hpp"
#include "builder/manifest/model.hpp"

namespace kiln::builder {

// Reads and checks a manifest. Source files must exist; paths are relative to the manifest's
// folder, or to one of its roots, which `roots` adds to and overrides. Unknown keys are errors,
// with the nearest known key as a suggestion. Fails with Code::bad_input for a fault in the
// manifest or in a file that it names. The message is complete and ready to print:
// file:line:column, the line, a caret, and what was expected.
Result<Manifest> read_manifest(const std::filesystem::path &path, const Roots &roots = {});

// Parses a manifest from text; `path` names it in errors and gives the folder.
Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path &path,
                                const Roots &roots = {});

}  // namespace kiln::builder
