// SPDX-License-Identifier: Apache-2.0
// Forks, becomes the program in the child, and reads what it writes.
#include "builder/process/run_attached.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

constexpr int kNotExecuted = 127;

// In the child; returns only where the program cannot be started.
int become(const ProcessRequest &request, const packs::Descriptor &output) {
  for (const auto &[name, value] : request.environment) {
    if (value) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
  std::vector<std::string> words{request.program.string()};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<char *> pointers;
  for (std::string &word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string folder = request.working_directory.string();
  if (!folder.empty() && chdir(folder.c_str()) != 0) return kNotExecuted;
  if (dup2(output.get(), STDOUT_FILENO) < 0) return kNotExecuted;
  execv(pointers[0], pointers.data());
  return kNotExecuted;
}

}  // namespace

ProcessResult run_attached(const ProcessRequest &request) {
  ProcessResult result;
  Pipe pipe;
  if (const int error = pipe.open(); error != 0) {
    result.code = error;
    result.reason = fmt::format("pipe: {}", std::strerror(error));
    return result;
  }
  const pid_t child = fork_child([&] { return become(request, pipe.write); });
  if (child < 0) {
    result.code = errno;
    result.reason = fmt::format("fork: {}", std::strerror(errno));
    return result;
  }
  pipe.write.close();
  while (drain(pipe.read, &result.out) != Drained::end) {
  }
  static_cast<ProcessExit &>(result) = wait_for(child);
  result.reason = result.end == ProcessEnd::exited
                      ? fmt::format("exit status {}", result.code)
                      : fmt::format("signal {} ({})", result.code, ::strsignal(result.code));
  return result;
}

}  // namespace kiln::builder
