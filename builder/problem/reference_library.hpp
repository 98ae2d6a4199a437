// SPDX-License-Identifier: Apache-2.0
// Functions of reference libraries (kiln/reference.h), called in this process: which may die of
// it, so only a child process calls them.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/problem/program_shape.hpp"
#include "kiln/reference.h"

namespace kiln::builder {

// Loads the shared object at `path`, which stays loaded, and finds the function. Fails with
// Code::failed if it cannot be loaded, is of another version, or lacks the function.
Result<kiln_reference_function *> load_reference(const std::string &path,
                                                 const std::string &function);

// Fills `*outputs`, which are blank planes of their shapes. Fails with Code::failed if the
// function says that it has no result.
Status call_reference(kiln_reference_function *function, const ProblemSize &size,
                      const std::vector<Plane> &inputs, const Parameters &parameters,
                      std::vector<Plane> *outputs);

}  // namespace kiln::builder
