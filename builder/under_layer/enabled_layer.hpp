// SPDX-License-Identifier: Apache-2.0
// The layer switched on for every application: of a user, or of a machine. No process stays; files
// that sessions and ICD loaders read at their start name the layer.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/under_layer/layer_environment.hpp"

namespace kiln::builder {

// For a user: a file of variables for systemd's sessions (environment.d). For a machine also the
// list of layers that Khronos's ICD loader reads.
enum class EnabledFor { user, machine };

// Writes the files, in place of earlier ones of Kiln's, and returns their paths. `variables` are
// layer_variables(). Fails with Code::bad_argument for a file that Kiln did not write, and as
// write_whole_file() where one cannot be written.
Result<std::vector<std::string>> enable_layer(EnabledFor whom, const Variables &variables);

// Removes the files, and returns the paths of those that were there. Fails with
// Code::bad_argument as enable_layer() does, and with Code::failed where one cannot be removed.
Result<std::vector<std::string>> disable_layer(EnabledFor whom);

// A file that switches the layer on.
struct EnablingFile {
  std::string path;
  std::string layer;  // the library that it names
  EnabledFor whom;
};

// Returns those of this user and this machine, whatever Kiln wrote them.
std::vector<EnablingFile> enabled_layers();

}  // namespace kiln::builder
