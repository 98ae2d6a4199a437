// SPDX-License-Identifier: Apache-2.0
// Finds the host's compilers (clang, llvm-spirv of the same LLVM version, spirv-val) and runs them
// so that only their input and arguments decide the result. Clang 21 and later can write SPIR-V
// without llvm-spirv, by LLVM's own back end.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/process/run_tool.hpp"

namespace kiln::builder {

// Tools by path or as a name in PATH. A named tool is used or refused, never replaced; an empty one
// is searched for.
struct ToolchainRequest {
  std::filesystem::path clang;
  std::filesystem::path llvm_spirv;
  std::filesystem::path spirv_val;
  std::string search_path;  // in the form of PATH; empty: the PATH of this process
};

struct Toolchain {
  std::filesystem::path clang;
  std::filesystem::path llvm_spirv;  // empty: clang writes SPIR-V itself
  std::filesystem::path spirv_val;
  int llvm_major = 0;
  std::string clang_version;       // the version line of each tool's --version, for provenance
  std::string llvm_spirv_version;  // clang's if clang writes SPIR-V itself
};

// Returns the name of what writes SPIR-V, for messages.
inline const char *translator_name(const Toolchain &toolchain) {
  return toolchain.llvm_spirv.empty() ? "LLVM's SPIR-V back end" : "llvm-spirv";
}

// One tool.
struct HostTool {
  std::filesystem::path path;
  std::string version;  // the line with the version
  int major = 0;
};

// Finds clang only, for work that needs no SPIR-V: `named` by path or as a name in PATH; if `named`
// is empty, the highest of clang-23 to clang-11, else clang. Fails as find_toolchain() does.
Result<HostTool> find_clang(const std::string &named);

// Tries clang-23 to clang-11, each with the llvm-spirv of the same number, then unversioned names;
// takes the highest version with both tools. If there is none and llvm-spirv is not named, takes
// the named clang, or the highest, that writes SPIR-V itself. Starts each tool that it finds once
// or twice, for its version. Safe to use from any thread. Fails with Code::not_found. The message
// is complete and ready to print: which tools were tried, why they do not serve, and what to
// install.
Result<Toolchain> find_toolchain(const ToolchainRequest &request);

// Returns settings that keep the caller's variables from changing what compilers do.
decltype(ProcessRequest::environment) compiler_environment();

// Calls run_tool() in that environment, in `folder` unless it is empty.
ProcessResult run_compiler(const std::filesystem::path &tool, std::vector<std::string> arguments,
                           std::string_view input, const CallLimits &limits,
                           const std::filesystem::path &folder = {});

// Whether the tool ended by itself, successfully, with an error or by a crash.
bool ended_by_itself(const ProcessResult &result);

// Returns the tool's standard error without the stack dump of a crashed LLVM program; ends with a
// newline unless it is empty.
std::string compiler_message(const ProcessResult &result);

}  // namespace kiln::builder
