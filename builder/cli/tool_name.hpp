// SPDX-License-Identifier: Apache-2.0
// What messages begin with.
#pragma once

namespace kiln::cli {

// The executable's name, which each main() defines.
extern const char *const kToolName;

}  // namespace kiln::cli
