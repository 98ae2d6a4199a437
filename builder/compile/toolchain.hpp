// SPDX-License-Identifier: Apache-2.0
// The host's compilers: clang, llvm-spirv of the same LLVM version, spirv-val. Finding them, and
// running one so that nothing but its input and arguments decides what it makes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/process/run_tool.hpp"

namespace kiln::builder {

// What the caller names, by path or as a name in PATH, is used or refused, never replaced;
// what is empty is searched for.
struct ToolchainRequest {
  std::filesystem::path clang;
  std::filesystem::path llvm_spirv;
  std::filesystem::path spirv_val;
  std::string search_path;  // as PATH is; empty: the PATH of this process
};

struct Toolchain {
  std::filesystem::path clang;
  std::filesystem::path llvm_spirv;
  std::filesystem::path spirv_val;
  int llvm_major = 0;
  std::string clang_version;  // the version's line of each tool's --version, for provenance
  std::string llvm_spirv_version;
  std::string spirv_val_version;
};

// A tool by itself.
struct HostTool {
  std::filesystem::path path;
  std::string version;  // the line that names it
  int major = 0;
};

// Clang alone, for what needs no SPIR-V: `named` by path or as a name in PATH, or where that is
// empty the highest of clang-20 to clang-11, else clang. Fails as find_toolchain() does.
Result<HostTool> find_clang(const std::string &named);

// Tries clang-20 to clang-11, each with the llvm-spirv of its number, then unversioned
// names; takes the highest version that has both. Starts each tool that it finds once or
// twice, for its version. Safe to use from any thread.
// Fails with Code::not_found. The message is whole and ready to print: what was tried, why it does
// not serve, what to install.
Result<Toolchain> find_toolchain(const ToolchainRequest &request);

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
