// SPDX-License-Identifier: Apache-2.0
// Runs a compiler of the host so that nothing but its input and arguments decides what it makes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/process/run_tool.hpp"

namespace kiln::builder {

// What keeps the caller's variables from changing what compilers do.
decltype(ProcessRequest::environment) compiler_environment();

// run_tool() in that environment, in `folder` if that is not empty.
ProcessResult run_compiler(const std::filesystem::path &tool, std::vector<std::string> arguments,
                           std::string_view input, const CallLimits &limits,
                           const std::filesystem::path &folder = {});

// Whether the tool came to an end of its own, be it a good one or a crash.
bool came_to_an_end(const ProcessResult &result);

// What it says on standard error, without the stack dump of a crashed LLVM program; ends with a
// newline unless it is empty.
std::string compiler_message(const ProcessResult &result);

}  // namespace kiln::builder
