// SPDX-License-Identifier: Apache-2.0
// Writes a marker before a kernel's first launch, and removes it when the application has waited.
#include "runtime/layer/serve/launch_markers.hpp"

#include <algorithm>

#include "runtime/layer/record/launches.hpp"

namespace kiln::layer {
namespace {

using LaunchLock = std::lock_guard<std::mutex>;

// A marker that no wait removes, such as of an application that asks for its event's state, must
// not stay until the application is ended: that would count as a death.
constexpr std::chrono::seconds kLongest{5};

bool is_in_order(cl_command_queue queue) {
  cl_command_queue_properties properties = 0;
  return next.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
                                    nullptr) == CL_SUCCESS &&
         (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
}

// As in the loader's launches, a death does not count against the rung.
runtime::DriverTask launch_task(const Unlaunched &program, unsigned index) {
  return {runtime::launch_id(program.task, index)};
}

}  // namespace

UnlaunchedPointer Unlaunched::of(const runtime::LoadedProgram &loaded) {
  auto found = std::make_shared<Unlaunched>();
  found->persistence = loaded.loader->persistence;
  found->task = loaded.task;
  unsigned index = 0;
  for (const packs::KernelRef kernel : loaded.variant.kernels()) {
    if (index < runtime::kMarkedKernels && (loaded.to_prove >> index & 1) != 0) {
      found->kernels.emplace(kernel.name(), index);
      found->left |= std::uint64_t{1} << index;
    }
    ++index;
  }
  return found->persistence == nullptr || found->left == 0 ? nullptr : found;
}

void LaunchMarkers::add_kernel(cl_kernel kernel, const UnlaunchedPointer &program) {
  if (program == nullptr) return;
  const std::string name = kernel_name(kernel);
  const LaunchLock lock(mutex_);
  const auto found = program->kernels.find(name);
  if (found == program->kernels.end()) return;
  kernels_.add(kernel, {program, found->second});
  is_idle_ = false;
}

void LaunchMarkers::add_clone(cl_kernel clone, cl_kernel of) {
  if (is_idle_) return;
  const LaunchLock lock(mutex_);
  kernels_.add_clone(clone, of);
}

void LaunchMarkers::retain(cl_kernel kernel) {
  if (is_idle_) return;
  const LaunchLock lock(mutex_);
  kernels_.retain(kernel);
}

void LaunchMarkers::release(cl_kernel kernel) {
  if (is_idle_) return;
  const LaunchLock lock(mutex_);
  kernels_.release(kernel);
  see_idle();
}

// If the marker cannot be written, a death goes unnoticed; the load has already reported that.
void LaunchMarkers::begin(cl_kernel kernel, cl_command_queue queue) {
  const LaunchLock lock(mutex_);
  Kernel *found = kernels_.find(kernel);
  if (found == nullptr) return;
  Flight flight{kernel, queue, std::move(*found), nullptr};
  kernels_.forget(kernel);
  Unlaunched &program = *flight.of.program;
  const std::uint64_t bit = std::uint64_t{1} << flight.of.index;
  if ((program.left & bit) == 0) return;  // launched by another handle
  program.left &= ~bit;
  (void)program.persistence->attempt(launch_task(program, flight.of.index), 0, &flight.marker);
  if (flight.marker != nullptr) flights_.push_back(std::move(flight));
}

void LaunchMarkers::end(cl_kernel kernel, cl_command_queue queue, bool is_enqueued,
                        const cl_event *event) {
  const auto now = std::chrono::steady_clock::now();
  const LaunchLock lock(mutex_);
  const auto found = std::find_if(flights_.begin(), flights_.end(), [&](const Flight &flight) {
    return flight.number == 0 && flight.kernel == kernel && flight.queue == queue;
  });
  if (found != flights_.end()) {
    found->marker->leave();
    found->began = now;
    found->event = event == nullptr ? nullptr : *event;
    found->number = ++count_;
    if (!is_enqueued) {  // the next launch is the first
      found->of.program->left |= std::uint64_t{1} << found->of.index;
      kernels_.add(kernel, std::move(found->of));
      flights_.erase(found);
    }
  }
  flights_.erase(std::remove_if(flights_.begin(), flights_.end(),
                                [&](const Flight &flight) {
                                  return flight.number != 0 && now - flight.began > kLongest;
                                }),
                 flights_.end());
  see_idle();
}

template <typename Ended>
void LaunchMarkers::prove(std::uint64_t count, const Ended &ended) {
  if (count == 0) return;
  const LaunchLock lock(mutex_);
  for (Flight &flight : flights_) {
    if (flight.number == 0 || flight.number > count || !ended(flight)) continue;
    flight.marker = nullptr;
    const Unlaunched &program = *flight.of.program;
    program.persistence->record(launch_task(program, flight.of.index), runtime::Event::proven, {});
  }
  flights_.erase(std::remove_if(flights_.begin(), flights_.end(),
                                [](const Flight &flight) { return flight.marker == nullptr; }),
                 flights_.end());
  see_idle();
}

void LaunchMarkers::finished(std::uint64_t count, cl_command_queue queue) {
  prove(count, [queue](const Flight &flight) { return flight.queue == queue; });
}

void LaunchMarkers::waited(std::uint64_t count, cl_command_queue queue) {
  prove(count,
        [queue](const Flight &flight) { return flight.queue == queue && is_in_order(queue); });
}

void LaunchMarkers::waited(std::uint64_t count, cl_uint event_count, const cl_event *events) {
  const cl_event *end = events + event_count;
  prove(count, [=](const Flight &flight) {
    return flight.event != nullptr && std::find(events, end, flight.event) != end;
  });
}

LaunchMarkers &launch_markers() {
  static LaunchMarkers &all = *new LaunchMarkers;
  return all;
}

}  // namespace kiln::layer
