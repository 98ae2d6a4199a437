// SPDX-License-Identifier: Apache-2.0
// How far a command is, on standard error: one line that is written over on a terminal, elsewhere a
// line now and then, without control characters.
#pragma once

#include <string>

#include "builder/base/progress_text.hpp"

namespace kiln::cli {

// The executable's name, which each main() defines.
extern const char *const kToolName;

void show_progress(const builder::ProgressState &progress);

// The same of something that is done one after another: rate and remaining time are estimated from
// the calls before.
void progress(const std::string &what, std::size_t done, std::size_t all);

// Takes the line from the terminal, if there is one.
void end_progress();

// The same where another process has shown it.
void clear_progress();

}  // namespace kiln::cli
