// SPDX-License-Identifier: Apache-2.0
// The environment and the limits of compilers, and what is worth showing of their messages.
#include "builder/compile/run_compiler.hpp"

#include <utility>

namespace kiln::builder {
namespace {

// What a tool writes beyond this is a fault of its own.
constexpr std::size_t kMaxOutput = std::size_t{64} << 20;

}  // namespace

decltype(ProcessRequest::environment) compiler_environment() {
  return {{"CCC_OVERRIDE_OPTIONS", std::nullopt},
          {"CPATH", std::nullopt},
          {"C_INCLUDE_PATH", std::nullopt},
          {"LC_ALL", "C"}};
}

ProcessResult run_compiler(const std::filesystem::path &tool, std::vector<std::string> arguments,
                           std::string_view input, const CallLimits &limits,
                           const std::filesystem::path &folder) {
  ProcessRequest request;
  request.program = tool;
  request.arguments = std::move(arguments);
  request.input = input;
  request.working_directory = folder;
  request.environment = compiler_environment();
  request.limits = limits;
  request.output_limit = kMaxOutput;
  return run_tool(request);
}

bool came_to_an_end(const ProcessResult &result) {
  return result.end == ProcessEnd::exited || result.end == ProcessEnd::signalled;
}

std::string compiler_message(const ProcessResult &result) {
  std::string text = result.err.substr(0, result.err.find("PLEASE submit a bug report"));
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace kiln::builder
