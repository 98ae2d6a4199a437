// SPDX-License-Identifier: Apache-2.0
// What the commands that run an application under the layer share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/cli/shared/common_options.hpp"
#include "builder/process/child_result.hpp"
#include "builder/process/foreground.hpp"
#include "builder/under_layer/icd_loader.hpp"
#include "builder/under_layer/layer_environment.hpp"

namespace kiln::cli {

// Paths are as given, and `preload` is not.
struct LayerArguments : builder::LayerEnvironment {
  std::vector<std::string> command;
};

// Adds the application's command.
void add_application(CLI::App &sub, LayerArguments *arguments);
// Adds --pack and --overlay.
void add_serving_options(CLI::App &sub, LayerArguments *arguments);

// Finds the layer beside this executable in a build, and in the library folder of an installation.
// Fails with Code::no_opencl.
Result<std::string> find_layer();

// Finds the layer, and chooses the loader for it. Fails as find_layer() does.
Result<builder::LoaderChoice> choose_loader();

// Says so if another loader is loaded before the application's own.
void print_preload(const builder::LoaderChoice &loader);

// Makes the spool's folder. Fails with Code::failed if nothing can be written there.
Status make_spool(const std::string &folder);

// Returns the lines of a report from its byte `from` on; empty if there is no report.
std::string report_lines(const std::string &report, std::uintmax_t from = 0);

// Returns the variables of a layer that the application's ICD loader takes. Fails if there is no
// layer, if no line can be appended to the report, and as builder::layer_variables() does.
Result<builder::Variables> variables_of(const LayerArguments &arguments,
                                        const builder::LoaderChoice &loader);

// Puts the entries for Mesa's shader cache, of the packs and of the user's own overlay, where Mesa
// reads them, and adds the variables for that to `variables`; does nothing if there are none. With
// `only_print`, writes nothing, and says what to run instead. Says on standard error why entries
// cannot be used.
void provision_served(const LayerArguments &arguments, bool only_print,
                      builder::Variables *variables);

// Runs the application with the variables to its end. What it prints goes to `output`: standard
// error if standard output is for Kiln's own result, or a file. `meanwhile` is as for
// run_foreground(). Fails with Code::no_opencl if it cannot be executed: the exit code is then that
// of a missing tool.
Result<builder::ProcessExit> run_under_layer(const std::vector<std::string> &command,
                                             const builder::Variables &variables, const char *mode,
                                             int output = STDOUT_FILENO,
                                             const builder::Meanwhile *meanwhile = nullptr);

}  // namespace kiln::cli
