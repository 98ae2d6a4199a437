// SPDX-License-Identifier: Apache-2.0
// Searches clang and llvm-spirv from the newest LLVM down until their versions agree, else a clang
// that needs no llvm-spirv, and runs them in a fixed environment.
#include "builder/compile/toolchain.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "builder/process/run_tool.hpp"

namespace kiln::builder {

namespace {

constexpr int kNewest = 23;
constexpr int kOldest = 11;
constexpr int kWritesSpirv = 21;  // first clang that writes SPIR-V by -c
constexpr std::chrono::milliseconds kVersionTimeout{20'000};

// Returns the number after "version ", as clang and llvm-spirv write it; 0 if there is none.
int major_of(const std::string &line) {
  constexpr std::string_view kWord = "version ";
  const std::size_t at = line.find(kWord);
  int number = 0;
  if (at != std::string::npos) {
    std::from_chars(line.data() + at + kWord.size(), line.data() + line.size(), number);
  }
  return number;
}

// Returns the first line that names the version: llvm-spirv writes another line first.
std::string version_line(const std::string &text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(" \t");
    if (line.find("version ") != std::string::npos || line.starts_with("SPIRV-Tools")) {
      return line.substr(first);
    }
    begin = end + 1;
  }
  return {};
}

// Opens a tool by path or by name. If the tool cannot be used, adds a line with the reason to
// `tried`.
std::optional<HostTool> open_tool(const std::string &name, const std::string &search_path,
                                  std::vector<std::string> &tried) {
  const auto path = find_executable({name}, search_path);
  if (!path) {
    const bool is_path = name.find('/') != std::string::npos;
    tried.push_back(fmt::format("{}: {}", name, is_path ? "no such program" : "not in PATH"));
    return std::nullopt;
  }
  ProcessRequest request;
  request.program = *path;
  request.arguments = {"--version"};
  request.limits = kVersionTimeout;
  const ProcessResult result = run_tool(request);
  HostTool tool{*path, version_line(result.out), 0};
  tool.major = major_of(tool.version);
  if (!result.ok() || tool.version.empty()) {
    tried.push_back(
        fmt::format("{}: --version did not answer ({})", path->string(), result.reason));
    return std::nullopt;
  }
  return tool;
}

struct Pair {
  HostTool clang;
  HostTool llvm_spirv{};  // without a path: clang writes SPIR-V itself
};

// Opens a clang and an llvm-spirv by name, if both exist and their versions agree.
std::optional<Pair> open_pair(const std::string &clang_name, const std::string &spirv_name,
                              const std::string &search_path, std::vector<std::string> &tried) {
  const auto clang = open_tool(clang_name, search_path, tried);
  const auto llvm_spirv = open_tool(spirv_name, search_path, tried);
  if (!clang || !llvm_spirv) return std::nullopt;
  if (clang->major != llvm_spirv->major || clang->major == 0) {
    tried.push_back(fmt::format("{} and {}: LLVM {} and LLVM {} do not fit", clang->path.string(),
                                llvm_spirv->path.string(), clang->major, llvm_spirv->major));
    return std::nullopt;
  }
  return Pair{*clang, *llvm_spirv};
}

// Searches for the tool that the caller did not name by the version of the tool that was named.
std::optional<Pair> named_pair(const ToolchainRequest &request, const std::string &search_path,
                               std::vector<std::string> &tried) {
  const auto complete = [&](const std::string &named, const std::string &other,
                            bool clang_is_named) -> std::optional<Pair> {
    const auto tool = open_tool(named, search_path, tried);
    if (!tool) return std::nullopt;
    for (const std::string &name : {fmt::format("{}-{}", other, tool->major), other}) {
      const auto pair = clang_is_named ? open_pair(named, name, search_path, tried)
                                       : open_pair(name, named, search_path, tried);
      if (pair) return pair;
    }
    return std::nullopt;
  };
  if (request.llvm_spirv.empty()) return complete(request.clang.string(), "llvm-spirv", true);
  if (request.clang.empty()) return complete(request.llvm_spirv.string(), "clang", false);
  return open_pair(request.clang.string(), request.llvm_spirv.string(), search_path, tried);
}

std::optional<Pair> search_pair(const std::string &search_path, std::vector<std::string> &tried) {
  bool any = false;
  for (int major = kNewest; major >= kOldest; --major) {
    const std::string clang = fmt::format("clang-{}", major);
    const std::string llvm_spirv = fmt::format("llvm-spirv-{}", major);
    if (!find_executable({clang, llvm_spirv}, search_path)) continue;
    any = true;
    if (const auto pair = open_pair(clang, llvm_spirv, search_path, tried)) return pair;
  }
  if (!any) {
    tried.push_back(fmt::format(
        "clang-{0}, llvm-spirv-{0} to clang-{1}, llvm-spirv-{1}: not in PATH", kNewest, kOldest));
  }
  return open_pair("clang", "llvm-spirv", search_path, tried);
}

// Returns the names of clang that are in the search path, the newest first.
std::vector<std::string> clang_names(const std::string &search_path) {
  std::vector<std::string> names;
  for (int major = kNewest; major >= kOldest; --major) {
    const std::string name = fmt::format("clang-{}", major);
    if (find_executable({name}, search_path)) names.push_back(name);
  }
  names.emplace_back("clang");
  return names;
}

// Opens the clang with this name, or the newest, if it writes SPIR-V itself. Its LLVM may have been
// built without that back end: then each variant's compilation says so.
std::optional<Pair> lone_clang(const std::string &named, const std::string &search_path) {
  std::vector<std::string> ignored;
  const auto names = named.empty() ? clang_names(search_path) : std::vector<std::string>{named};
  for (const std::string &name : names) {
    const auto clang = open_tool(name, search_path, ignored);
    if (clang && clang->major >= kWritesSpirv) return Pair{*clang};
  }
  return std::nullopt;
}

std::string path_variable() {
  const char *path = std::getenv("PATH");
  return path != nullptr ? path : "";
}

Status not_found(const std::string &what, const std::vector<std::string> &tried,
                 const std::string &install) {
  std::string text = fmt::format("error: {}\n", what);
  for (const std::string &line : tried) text += fmt::format("  tried {}\n", line);
  return {Code::not_found, text + install + "\n"};
}

// Limit on a tool's output; more is the tool's fault.
constexpr std::size_t kMaxOutput = std::size_t{64} << 20;

}  // namespace

Result<HostTool> find_clang(const std::string &named) {
  const std::string search_path = path_variable();
  const auto names = named.empty() ? clang_names(search_path) : std::vector<std::string>{named};
  std::vector<std::string> tried;
  for (const std::string &name : names) {
    if (const auto clang = open_tool(name, search_path, tried)) return *clang;
  }
  return not_found("no clang", tried,
                   "install it, such as the Debian package clang-15, or name it with KILN_CLANG");
}

Result<Toolchain> find_toolchain(const ToolchainRequest &request) {
  const std::string search_path =
      request.search_path.empty() ? path_variable() : request.search_path;
  std::vector<std::string> tried;
  const bool is_named = !request.clang.empty() || !request.llvm_spirv.empty();
  auto pair = is_named ? named_pair(request, search_path, tried) : search_pair(search_path, tried);
  if (!pair && request.llvm_spirv.empty()) pair = lone_clang(request.clang.string(), search_path);
  if (!pair) {
    return not_found("no clang and llvm-spirv of the same LLVM version", tried,
                     "install both, such as the Debian packages clang-15 and llvm-spirv-15, or "
                     "name them with KILN_CLANG and KILN_LLVM_SPIRV");
  }
  tried.clear();
  const auto spirv_val = open_tool(
      request.spirv_val.empty() ? "spirv-val" : request.spirv_val.string(), search_path, tried);
  if (!spirv_val) {
    return not_found("no spirv-val", tried, "install it: it is in the Debian package spirv-tools");
  }
  Toolchain toolchain;
  toolchain.clang = pair->clang.path;
  toolchain.llvm_spirv = pair->llvm_spirv.path;
  toolchain.spirv_val = spirv_val->path;
  toolchain.llvm_major = pair->clang.major;
  toolchain.clang_version = pair->clang.version;
  toolchain.llvm_spirv_version =
      pair->llvm_spirv.path.empty() ? pair->clang.version : pair->llvm_spirv.version;
  return toolchain;
}

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

bool ended_by_itself(const ProcessResult &result) {
  return result.end == ProcessEnd::exited || result.end == ProcessEnd::signalled;
}

std::string compiler_message(const ProcessResult &result) {
  std::string text = result.err.substr(0, result.err.find("PLEASE submit a bug report"));
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace kiln::builder
