// SPDX-License-Identifier: Apache-2.0
// Commands that run tools and drivers for long.
#pragma once

#include <string>

namespace kiln::cli {

// builder::supervise(). An interrupt takes the progress line from the terminal, and tells `text`
// if there is one.
void supervise_command(const std::string &text = "");

}  // namespace kiln::cli
