// SPDX-License-Identifier: Apache-2.0
// The driver's compiler: who uses it through Kiln, and asking the driver to let go of it.
#pragma once

#include "kiln/driver.h"
#include "runtime/load/loader.hpp"
#include "runtime/load/report.hpp"

namespace kiln::runtime {

// Keeps the compiler of every platform from being unloaded while it exists. Not to be nested.
class UsingCompiler {
 public:
  UsingCompiler();
  UsingCompiler(const UsingCompiler &) = delete;
  UsingCompiler &operator=(const UsingCompiler &) = delete;
  ~UsingCompiler();
};

// Whether the driver compiled, or compiles at the first launch, what the report tells of.
bool has_compiled(const Report &report);

// Asks the driver, unless somebody is using the compiler, behind a marker until it has survived it.
Status unload_compiler(const Loader &loader, kiln_unload *out);

}  // namespace kiln::runtime
