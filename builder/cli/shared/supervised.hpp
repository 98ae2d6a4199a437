// SPDX-License-Identifier: Apache-2.0
// What a command does before it starts other processes. POSIX.
#pragma once

#include <string>

#include "builder/base/builder_status.hpp"

namespace kiln::cli {

// Removes from the environment what would make a driver compile something else than a program's
// text and options say (runtime/source/driver_variables.hpp), and prints it: whoever loads the
// binary later does not have it. Call before devices are listed. Fails with Code::bad_argument if
// it is a file in the current folder.
builder::Status leave_out_driver_variables();

// Calls builder::supervise(). An interrupt clears the progress line on the terminal, and prints
// `text` if there is one.
void supervise_command(const std::string &text = "");

}  // namespace kiln::cli
