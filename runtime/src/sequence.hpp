// Launches that are recorded once and run often.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch.hpp"
#include "recording.hpp"

namespace kiln::runtime {

// A recorded launch: a kernel object of its own, so that its arguments stay as they were.
struct Step {
  std::shared_ptr<const LoadedProgram> program;
  unsigned index = 0;  // of the kernel among the variant's
  Handle<cl_kernel> kernel;
  LaunchPlan plan;
  std::unique_ptr<Handle<cl_mem>[]> memory;  // that the arguments name
};

// Steps are added, then it is ended, then run. One thread at a time.
struct Sequence {
  Sequence() = default;
  ~Sequence();  // out of line: small

  std::shared_ptr<const Loader> loader;
  Handle<cl_command_queue> queue;
  cl_command_queue_properties properties = 0;  // of the queue
  std::vector<Step> steps;
  Recording recording;
  std::string reason;  // why a better way of recording is not used
  bool ended = false;
};

Error begin_sequence(const Queue &queue, Sequence *out);
Error add_step(Sequence *sequence, const Kernel &kernel, const kiln_ndrange &range);
// Records through the best of the device's extensions that works.
Error end_sequence(Sequence *sequence);
// `event` may be null.
Error run_sequence(const Sequence &sequence, const Waits &waits, Handle<cl_event> *event);

}  // namespace kiln::runtime
