// SPDX-License-Identifier: Apache-2.0
// Build logs as packs keep them.
#pragma once

#include <string>

namespace kiln::builder {

// Returns the log as packs keep it: with "<path>" for each absolute path, since a driver may name
// its temporary files.
std::string without_paths(const std::string &log);

}  // namespace kiln::builder
