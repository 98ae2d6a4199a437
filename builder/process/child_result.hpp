// SPDX-License-Identifier: Apache-2.0
// What became of a call to a child process: its end, or its answer and the status in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

enum class ProcessEnd {
  exited,        // code: the exit code
  signalled,     // code: the signal that ended the process
  timed_out,     // exceeded the time limit and was killed
  over_memory,   // exceeded the memory limit and was killed
  output_limit,  // exceeded the output limit and was killed
  not_started,   // code: errno
};

// How a process ended.
struct ProcessExit {
  ProcessEnd end = ProcessEnd::not_started;
  int code = 0;

  bool done() const { return end == ProcessEnd::exited && code == 0; }
};

// Reason of a child that ended itself, since a launch took longer than it may
// (finish/launch_twice.hpp).
inline constexpr char kEndless[] =
    "it did not end in ten times the time of the build (20 s at least, half of a step's at most)";

// A child that gave no answer has exited, was signalled or killed, or was never started.
struct ChildResult : ProcessExit {
  bool answered = false;
  nlohmann::json answer;  // what the function returned
  std::string output;     // the end of the child's standard output and error

  bool is_endless() const;  // the reason is kEndless
  // Whether there is an answer, which may still report a failure.
  bool ok() const { return answered; }
  // Describes a child without an answer: "crashed with signal 11 (Segmentation fault)", and on
  // further lines the end of its output, if any.
  std::string reason() const;
  // Returns the status in the answer, if any. Fails with Code::process and the reason if there is
  // no answer.
  Status status() const;
};

// Limits of a child for one piece of work. A child that exceeds one is killed.
struct CallLimits {
  constexpr CallLimits(std::chrono::milliseconds time, std::uint64_t bytes = 0)
      : timeout(time), memory(bytes) {}

  std::chrono::milliseconds timeout;
  // Bytes that the child and its helper processes may have in memory; 0: any.
  std::uint64_t memory;
};

// A status as a child sends it: {"error": message, "code": the code's number}, with "cl_error" if
// OpenCL gave a code; {} if the status is ok.
nlohmann::json to_json(const Status &status);
// Converts back; ok if `answer` has no "error". Ignores the answer's other members.
Status status_from(const nlohmann::json &answer);

}  // namespace kiln::builder
