// SPDX-License-Identifier: Apache-2.0
// Writes the marker before the launch, and removes it in the event's callback.
#include "runtime/launch/first_launch.hpp"

namespace kiln::runtime {
namespace {

// Data that a completed launch reports to the guard. It holds no OpenCL object: the driver calls
// back on its own thread, where releasing an object could wait for that very thread.
struct Waiting {
  std::shared_ptr<Persistence> persistence;
  DriverTask task;
  int slot;
};

void CL_CALLBACK complete(cl_event, cl_int status, void *user) {
  const std::unique_ptr<Waiting> waiting(static_cast<Waiting *>(user));
  const Verdict verdict = status < 0 ? Verdict::untried : Verdict::proven;
  waiting->persistence->guard().end(waiting->slot, waiting->task, verdict);
}

// Names a launch for the guard. A death in it does not count against the rung: the application may
// launch a program at any time, and its user may end it at any time.
DriverTask launch_of(const DriverTask &task, unsigned index) {
  return {launch_id(task, index), kNoLoad};
}

}  // namespace

FirstLaunch::FirstLaunch(const LoadedProgram &program, unsigned index) : program_(program) {
  // Checked first, so that only the first launch writes: every launch comes here.
  if (!program.launched.load(std::memory_order_relaxed)) program.launched = true;
  if (program.to_prove.load(std::memory_order_relaxed) == 0 || index >= kMarkedKernels) return;
  const std::uint64_t bit = std::uint64_t{1} << index;
  if (program.loader->device->cl->clSetEventCallback == nullptr) return;
  if ((program.to_prove.fetch_and(~bit) & bit) == 0) return;
  bit_ = bit;
  task_ = launch_of(program.task, index);
  // If this fails, a death goes unnoticed; the load has already reported that.
  (void)guard_of(*program.loader)->begin(task_, 0, &slot_);
}

FirstLaunch::~FirstLaunch() {
  if (slot_ < 0) return;
  guard_of(*program_.loader)->end(slot_, task_, Verdict::untried);
  program_.to_prove.fetch_or(bit_);  // the next launch is the first
}

void FirstLaunch::end_with(cl_event event) {
  if (slot_ < 0 || event == nullptr) return;
  guard_of(*program_.loader)->leave(slot_);
  auto waiting = std::make_unique<Waiting>(Waiting{program_.loader->persistence, task_, slot_});
  const cl_int code =
      program_.loader->device->cl->clSetEventCallback(event, CL_COMPLETE, complete, waiting.get());
  if (code != CL_SUCCESS) return;
  waiting.release();  // NOLINT(bugprone-unused-return-value): the driver owns it
  slot_ = -1;
}

}  // namespace kiln::runtime
