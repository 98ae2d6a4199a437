// SPDX-License-Identifier: Apache-2.0
// For Windows, where devices are listed, but no job compiles: what listing calls.
#include "builder/machine/driver_caches.hpp"

namespace kiln::builder {

bool keep_listed_caches() { return false; }
void await_mesa() {}

}  // namespace kiln::builder
