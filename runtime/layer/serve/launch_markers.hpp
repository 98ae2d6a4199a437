// SPDX-License-Identifier: Apache-2.0
// Markers for the first launches of served kernels: code for another processor stops there, not
// when it is loaded. A marker is removed when the application has waited for its launch, so the
// layer adds no call and no event.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/layer/base/counted_handles.hpp"
#include "runtime/layer/base/next.hpp"
#include "runtime/load/loader.hpp"

namespace kiln::layer {

// A served program with kernels that the driver is not known to survive.
struct Unlaunched {
  // Returns null if the driver is known to survive all kernels, or if nothing remembers that.
  static std::shared_ptr<Unlaunched> of(const runtime::LoadedProgram &loaded);

  std::shared_ptr<runtime::Persistence> persistence;
  runtime::DriverTask task;                           // which loaded the program
  std::unordered_map<std::string, unsigned> kernels;  // indices
  std::uint64_t left = 0;                             // bit i: kernel i; guarded by LaunchMarkers
};
using UnlaunchedPointer = std::shared_ptr<Unlaunched>;

// Thread-safe. All members return at once if nothing waits for a launch or its end.
class LaunchMarkers {
 public:
  // `program` may be null.
  void add_kernel(cl_kernel kernel, const UnlaunchedPointer &program);
  void add_clone(cl_kernel clone, cl_kernel of);
  void retain(cl_kernel kernel);
  // Called before the driver may reuse the handle.
  void release(cl_kernel kernel);

  // Calls `launch()`, behind a marker if it is the kernel's first launch. The event is the
  // application's and may be null.
  template <typename Call>
  cl_int guard(cl_kernel kernel, cl_command_queue queue, const cl_event *event,
               const Call &launch) {
    if (is_idle_) return launch();
    begin(kernel, queue);
    const cl_int code = launch();
    end(kernel, queue, code == CL_SUCCESS, event);
    return code;
  }

  // Called before the application waits; returns what the members below need.
  std::uint64_t count() const { return is_idle_ ? 0 : count_.load(); }
  // The application has waited for all commands of the queue; or for one, which an out-of-order
  // queue may run before earlier ones; or for events.
  void finished(std::uint64_t count, cl_command_queue queue);
  void waited(std::uint64_t count, cl_command_queue queue);
  void waited(std::uint64_t count, cl_uint event_count, const cl_event *events);

 private:
  struct Kernel {
    UnlaunchedPointer program;
    unsigned index = 0;
  };
  struct Flight {
    cl_kernel kernel;
    cl_command_queue queue;
    Kernel of;
    std::unique_ptr<runtime::Marker> marker;
    std::uint64_t number = 0;  // of launches that were enqueued; 0: not yet
    cl_event event = nullptr;  // not owned: compared only
    std::chrono::steady_clock::time_point began{};
  };

  void begin(cl_kernel kernel, cl_command_queue queue);
  void end(cl_kernel kernel, cl_command_queue queue, bool is_enqueued, const cl_event *event);
  template <typename Ended>
  void prove(std::uint64_t count, const Ended &ended);
  void see_idle() { is_idle_ = kernels_.is_empty() && flights_.empty(); }

  std::mutex mutex_;
  CountedHandles<cl_kernel, Kernel> kernels_;
  std::vector<Flight> flights_;
  std::atomic<std::uint64_t> count_{0};
  std::atomic<bool> is_idle_{true};
};

// Never destroyed, like objects().
LaunchMarkers &launch_markers();

}  // namespace kiln::layer
