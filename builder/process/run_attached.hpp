// SPDX-License-Identifier: Apache-2.0
// Runs a program as a part of this one. POSIX.
#pragma once

#include "builder/process/run_tool.hpp"

namespace kiln::builder {

// Runs a program to its end and takes its standard output. Its standard error and its terminal are
// this process's, it is in the same process group, and it ends with this process. Of the request
// the program, which needs a path, the arguments, the working directory and the environment count:
// there is no limit on time or output. The caller must be single-threaded.
ProcessResult run_attached(const ProcessRequest &request);

}  // namespace kiln::builder
