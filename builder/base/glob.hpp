// SPDX-License-Identifier: Apache-2.0
// Patterns by which people name devices and targets.
#pragma once

#include <string>

namespace kiln::builder {

// Whole-text match with * and ?, without regard to ASCII case.
bool glob_match(const std::string &pattern, const std::string &text);

}  // namespace kiln::builder
