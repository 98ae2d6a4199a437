// SPDX-License-Identifier: Apache-2.0
// From the words of a command line to the command that they choose.
#pragma once

#include "builder/cli/common.hpp"

namespace kiln::cli {

// Parses and runs what the subcommand stored in `*command`. Returns the exit code; explains words
// that it does not know, with the nearest that it does.
int run_command_line(CLI::App &app, const Command &command, int argc, char **argv);

inline constexpr const char *kExitCodes =
    "Exit codes: 0 done, 1 some jobs or checks failed, 2 usage, 3 bad manifest,\n"
    "4 bad pack, 5 no device or tool, 130 interrupted.";

}  // namespace kiln::cli
