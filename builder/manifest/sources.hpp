// SPDX-License-Identifier: Apache-2.0
// A manifest for sources that come without one: of each source all kernels, with the same options.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/manifest/model.hpp"

namespace kiln::builder {

struct Sources {
  std::vector<std::filesystem::path> files;
  std::string
      program;  // the name of the only file's program; empty: as the file, without extension
  std::string options;  // build options, as for clBuildProgram()
  std::vector<std::filesystem::path> include_dirs;
};

// Returns a path in the deepest folder that has all files. No file needs to be there: a manifest's
// path gives the folder that names in the pack are relative to, and is in messages.
std::filesystem::path path_for_sources(const Sources &sources);

// Returns the manifest, as parse_manifest() reads it at that path. Fails with Code::bad_input, with
// a message that is ready to print, if a file or folder is not there, if a file gives no name of a
// program, if two give the same name, or if an option is none that a manifest takes.
Result<Manifest> manifest_of(const Sources &sources);

}  // namespace kiln::builder
