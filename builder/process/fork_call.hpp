// SPDX-License-Identifier: Apache-2.0
// Running a driver where its death costs nothing: in a child process that has loaded no
// driver before. POSIX.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/process/child_process.hpp"

namespace kiln::builder {

// A child that gave no answer has exited, was signalled or timed out, or was never started.
struct ChildResult : ProcessExit {
  bool answered = false;
  nlohmann::json answer;  // what the function returned
  std::string output;     // the last 64 KiB of what it wrote to standard output and error

  // Whether there is an answer, which may still report a failure.
  bool ok() const { return answered; }
  // Of a child without an answer: "crashed with signal 11 (Segmentation fault)", with the end of
  // its output, if any.
  std::string reason() const;
  // Fails with Code::process and the reason if there is no answer, else with the status that is in
  // the answer, if any (status_json.hpp).
  Status status() const;
};

// Forks, runs `work` in the child and returns its answer. The child leaves by _exit, so no
// driver's exit handler runs. The caller must be single-threaded and must not have loaded
// a driver itself: then each child is as fresh as a new process.
// Binary answers travel as nlohmann::json::binary.
ChildResult fork_call(const std::function<nlohmann::json()> &work,
                      std::chrono::milliseconds timeout);

// SIGINT, SIGTERM and SIGHUP, unless who started this process ignores them, are given to the child
// of fork_call() as SIGTERM before they end this process; the child has 100 ms to clear its
// markers.
void pass_on_interrupts();

// A new folder below TMPDIR or /tmp that is removed, with what is in it, on destruction.
class TemporaryFolder {
 public:
  // Fails with Code::failed.
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder &&other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();
  const std::string &path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: another has it now
};

}  // namespace kiln::builder
