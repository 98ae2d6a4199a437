// SPDX-License-Identifier: Apache-2.0
// The environment variables that drivers may have read in this process, which the application may
// have removed since.
#pragma once

#include <string>
#include <string_view>

namespace kiln::layer {

// Looks at the environment. Called whenever a driver may read its variables: when the layer starts,
// which is when an ICD loader has loaded the drivers, and before the driver lists its devices or
// makes a context. Thread-safe.
void see_variables();

// Looks at the environment, and returns the name of the first variable that was ever seen and may
// change what a driver of this profile compiles; empty if there is none. Thread-safe.
std::string seen_variable(std::string_view profile);

}  // namespace kiln::layer
