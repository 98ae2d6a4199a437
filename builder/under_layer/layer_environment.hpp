// SPDX-License-Identifier: Apache-2.0
// The variables that put the layer between an application and its driver, and how they are written
// for what starts the application.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Paths are absolute: the application may have another working directory.
struct LayerEnvironment {
  std::string layer;
  std::vector<std::string> packs;  // files, and folders of *.kiln files
  std::string overlay;             // empty: none
  std::string shared;              // folder that users share; empty: none
  std::vector<std::string> keys;   // lines of public keys, for `shared`
  std::string report;              // empty: none
  std::string report_folder;       // empty: none
  std::string preload;             // an ICD loader that takes layers; empty: none is needed
  std::string spool;               // empty: the layer serves
  std::string require;             // word of KILN_REQUIRE; empty: nothing
  std::string rung;                // name for KILN_RUNG; empty: none
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// Returns the folder of Mesa's caches, by this process's variables; empty if none says where the
// user's files are.
std::string mesa_folder();

// Returns the variables with which Mesa reads what was provisioned in `folder` (empty: in the one
// that Mesa finds itself), with the databases of this process's MESA_DISK_CACHE_READ_ONLY_FOZ_DBS
// in them. Fails with Code::failed if a variable of the user's keeps Mesa from reading it.
Result<Variables> mesa_variables(const std::string &folder);

// Returns the variables, with those of this process's OPENCL_LAYERS and LD_PRELOAD in them. Fails
// with Code::bad_argument for a path with a colon, which separates paths in such lists.
Result<Variables> layer_variables(const LayerEnvironment &environment);

// The forms that variables can be written in: "sh", "environment.d", "systemd", "desktop" and
// "container".
const std::vector<std::string> &environment_forms();

// Returns lines that set the variables, in one of environment_forms().
std::string variables_text(const Variables &variables, const std::string &form);

// Returns a command as a user would type it in a shell: words are quoted where they must be.
std::string shell_command(const std::vector<std::string> &words);

}  // namespace kiln::builder
