// SPDX-License-Identifier: Apache-2.0
// A child process that answers one order after another, so that it loads a driver only once; and
// how a call to a child ended. POSIX.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/process/child_process.hpp"
#include "builder/process/run_tool.hpp"

namespace kiln::builder {

// A child process that is forked from this one at the first call, and again after it has ended. It
// leaves by _exit, so no driver's exit handler runs. The caller must be single-threaded and must
// not have loaded a driver: then each child is as fresh as a new process.
class ServingChild {
 public:
  static constexpr std::size_t kOutputKept = 64 << 10;
  // Called in the child. Binary data travels as nlohmann::json::binary.
  using Work = std::function<nlohmann::json(const nlohmann::json &order)>;

  // Of the output of each call at least the last `output_kept` bytes are kept.
  explicit ServingChild(Work work, std::size_t output_kept = kOutputKept)
      : work_(std::move(work)), output_kept_(output_kept) {}
  // The child becomes a program that calls answer_orders() and nothing before. Of the request uses
  // the same as run_attached().
  explicit ServingChild(ProcessRequest program);
  ServingChild(const ServingChild &) = delete;
  ~ServingChild() { end(); }

  // Sends an order and waits for the answer. If there is no answer, the process has ended, and the
  // next call starts another.
  ChildResult call(const nlohmann::json &order, const CallLimits &limits);

  // The number of orders that the current process has answered; 0 if there is no process.
  std::size_t answers() const { return answers_; }
  // Returns the bytes that the process has in memory. 0 if there is no process, or the system does
  // not tell.
  std::uint64_t resident() const;
  // Ends the process, if there is one, and every process that its driver started.
  ProcessExit end();

 private:
  bool start();

  Work work_;
  std::optional<ProcessRequest> program_;  // runs instead
  std::size_t output_kept_ = kOutputKept;
  pid_t pid_ = -1;
  packs::Descriptor socket_;  // orders out, answers back
  packs::Descriptor output_;  // a pipe: the child's output
  std::size_t answers_ = 0;
};

// Answers the orders of the ServingChild that started this program, until it is gone. Returns the
// exit code.
int answer_orders(const ServingChild::Work &work);

// Makes SIGINT, SIGTERM and SIGHUP, unless they are ignored already, first send SIGTERM to the
// child that is being called and then end this process. The child has 100 ms to clear its markers.
void pass_on_interrupts();

}  // namespace kiln::builder
