// SPDX-License-Identifier: Apache-2.0
// For Windows, where `kiln overlay build` is not.
#include "runtime/layer/base/background.hpp"

namespace kiln::layer {

bool has_builder() { return false; }
bool starts_builder() { return false; }
void start_builder() {}

}  // namespace kiln::layer
