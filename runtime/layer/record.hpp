// SPDX-License-Identifier: Apache-2.0
// Writes what an application built into a spool: a folder with a base pack for each program.
#pragma once

#include <string>

#include "runtime/layer/next.hpp"
#include "runtime/layer/whole_program.hpp"

namespace kiln::layer {

// The spool gets FOLDER/NAME.kiln, unless it stands there: whole or not at all, whichever processes
// write the same at once. `built` was built by the driver; its kernels are asked for and released.
// The first failure of a process is complained about.
void record_program(cl_program built, const WholeProgram &program, const std::string &folder);

}  // namespace kiln::layer
