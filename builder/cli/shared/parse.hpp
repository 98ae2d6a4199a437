// SPDX-License-Identifier: Apache-2.0
// Parses a command line, and runs the command that it chooses.
#pragma once

#include <initializer_list>

#include "builder/cli/shared/common.hpp"

namespace kiln::cli {

// A function that adds one subcommand, as those in common.hpp do.
using AddCommand = void (*)(CLI::App &app, Command *command);

// Does all of main() for a program with these subcommands, in the order of its help, which calls it
// `name`. Returns the exit code; reports unknown words together with the nearest known word.
int run_command_line(const char *name, const char *description,
                     std::initializer_list<AddCommand> commands, int argc, char **argv);

// Adapts a check to CLI11, which expects a function that returns a text, empty if the word is
// valid. All checks go through this adaptor.
CLI::Validator as_validator(Status (*check)(const std::string &word), const char *type_name);

}  // namespace kiln::cli
