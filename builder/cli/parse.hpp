// SPDX-License-Identifier: Apache-2.0
// From the words of a command line to the command that they choose.
#pragma once

#include <initializer_list>

#include "builder/cli/common.hpp"

namespace kiln::cli {

// Adds one subcommand, as the functions of common.hpp do.
using AddCommand = void (*)(CLI::App &app, Command *command);

// All of main(): the executable kToolName with these subcommands, in the order of its help. Returns
// the exit code; explains words that it does not know, with the nearest that it does.
int run_command_line(const char *description, std::initializer_list<AddCommand> commands, int argc,
                     char **argv);

// CLI11 takes a check of one word as a function that returns a text, empty where all is well: only
// this adaptor does.
CLI::Validator as_validator(Status (*check)(const std::string &word), const char *type_name);

// Gives back the signals that run_command_line() ignores, for a program that takes this one's
// place.
void restore_signals();

}  // namespace kiln::cli
