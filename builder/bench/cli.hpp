// SPDX-License-Identifier: Apache-2.0
// The subcommands of kiln-bench, each of which stores itself in `*command` when it is chosen.
#pragma once

#include "builder/cli/device_options.hpp"

namespace kiln::cli {

void add_kernels(CLI::App &app, Command *command);
void add_launch(CLI::App &app, Command *command);

}  // namespace kiln::cli
