// SPDX-License-Identifier: Apache-2.0
// Asking the driver to let go of its compiler.
#pragma once

#include "kiln/driver.h"
#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// Asks the driver, unless somebody is using the compiler, behind a marker until it has survived it.
Status unload_compiler(const Loader &loader, kiln_unload *out);

}  // namespace kiln::runtime
