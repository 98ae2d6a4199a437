// SPDX-License-Identifier: Apache-2.0
// Writes the marker before the launch, and removes it in the event's callback.
#include "runtime/launch/first_launch.hpp"

namespace kiln::runtime {
namespace {

// Data that a completed launch reports. It holds no OpenCL object: the driver calls back on its own
// thread, where releasing an object could wait for that very thread.
struct Waiting {
  std::shared_ptr<Persistence> persistence;
  DriverTask task;
  std::unique_ptr<Marker> marker;
};

void CL_CALLBACK complete(cl_event, cl_int status, void *user) {
  const std::unique_ptr<Waiting> waiting(static_cast<Waiting *>(user));
  waiting->marker = nullptr;
  if (status >= 0) waiting->persistence->record(waiting->task, Event::proven, {});
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
  // No load: a death does not count against the rung, since the application may launch a program at
  // any time, and its user may end it at any time.
  task_ = {launch_id(program.task, index)};
  // If this fails, a death goes unnoticed; the load has already reported that.
  (void)program.loader->persistence->attempt(task_, 0, &marker_);
}

FirstLaunch::~FirstLaunch() {
  if (marker_ == nullptr) return;
  marker_ = nullptr;
  program_.to_prove.fetch_or(bit_);  // the next launch is the first
}

void FirstLaunch::end_with(cl_event event) {
  if (marker_ == nullptr || event == nullptr) return;
  marker_->leave();
  auto waiting =
      std::make_unique<Waiting>(Waiting{program_.loader->persistence, task_, std::move(marker_)});
  const cl_int code =
      program_.loader->device->cl->clSetEventCallback(event, CL_COMPLETE, complete, waiting.get());
  if (code != CL_SUCCESS) {
    marker_ = std::move(waiting->marker);
    return;
  }
  waiting.release();  // NOLINT(bugprone-unused-return-value): the driver owns it
}

}  // namespace kiln::runtime
