// SPDX-License-Identifier: Apache-2.0
// Runs programs: an argument vector, never a shell. A tool gets bytes and gives bytes within
// limits; an attached program shares the terminal. POSIX.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/process/child_process.hpp"

namespace kiln::builder {

struct ProcessRequest {
  std::filesystem::path program;            // with a '/', or searched in PATH
  std::vector<std::string> arguments;       // without the program's own name
  std::string_view input;                   // for standard input; must live through the call
  std::filesystem::path working_directory;  // empty: the caller's
  // Added to the caller's environment; nullopt removes a variable.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  CallLimits limits{std::chrono::milliseconds(60'000)};
  std::size_t output_limit = std::size_t{256} << 20;  // bytes, of each output stream
};

struct ProcessResult : ProcessExit {
  std::string out;  // what the program wrote, also if it was killed
  std::string err;
  std::string reason;  // a phrase: "exit status 1", "signal 6 (Aborted)", "no end within 50 ms"

  bool ok() const { return done(); }
};

// Runs a program to its end, in a process group of its own. When the program ends, by itself or by
// a limit, the rest of its group is killed. A program that does not read its input is not an error.
// Never throws except for lack of memory; safe to use from any thread.
ProcessResult run_tool(const ProcessRequest &request);

// Returns the first of `names` that is an executable file in a folder of `path` (colon-separated,
// like PATH). A name with a '/' is used as it is. Names are tried in order.
std::optional<std::filesystem::path> find_executable(const std::vector<std::string> &names,
                                                     std::string_view path);

// Searches the PATH of this process.
std::optional<std::filesystem::path> find_executable(const std::vector<std::string> &names);

// Runs a program to its end and collects its standard output. The program shares this process's
// standard error, terminal and process group, and ends with this process. Uses only the request's
// program (which needs a path), arguments, working directory and environment: there is no limit on
// time or output. The caller must be single-threaded.
ProcessResult run_attached(const ProcessRequest &request);

// Call in a process that was just forked. Replaces it by the request's program, with `output` as
// standard output; uses the same fields of the request as run_attached(). If the program cannot be
// started, returns an exit code.
int become(const ProcessRequest &request, const packs::Descriptor &output);

}  // namespace kiln::builder
