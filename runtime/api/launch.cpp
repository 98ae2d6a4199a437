// SPDX-License-Identifier: Apache-2.0
// The C API: kernels, queues, events and launches.
#include "runtime/api/api.hpp"
#include "runtime/api/options.hpp"
#include "runtime/launch/argument_check.hpp"

using namespace kiln::runtime;

namespace kiln::runtime {

Status check_context(const Loader &one, const Loader &other, const char *message) {
  if (one.context.get() == other.context.get()) return {};
  return Status::error(Code::bad_argument, message);
}

Status check_kernel(const Loader &loader, const Kernel &kernel) {
  const Loader &made_from = *kernel.program->loader;
  if (loader.device->id != made_from.device->id) {
    return Status::error(Code::bad_argument, "the kernel and the queue are of other devices");
  }
  return check_context(loader, made_from, "the kernel and the queue are of other contexts");
}

Status collect_waits(const Loader &loader, const kiln_event *const *wait, size_t count,
                     Waits *out) {
  const char *wrong = nullptr;
  if (count != 0 && wait == nullptr) wrong = "the wait list is NULL";
  if (count > KILN_MAX_WAITS) wrong = "a wait list has at most 64 events";
  for (size_t i = 0; i < count && wrong == nullptr; ++i) {
    if (wait[i] == nullptr) {
      wrong = "an event to wait for is NULL";
    } else if (wait[i]->loader->context.get() != loader.context.get()) {
      wrong = "an event to wait for and the queue are of other contexts";
    } else {
      out->events[i] = wait[i]->handle.get();
    }
  }
  if (wrong != nullptr) return Status::error(Code::bad_argument, wrong);
  out->count = static_cast<cl_uint>(count);
  return {};
}

kiln_status end_command(const Status &result, const std::shared_ptr<const Loader> &loader,
                        Handle<cl_event> *made, kiln_event **event, kiln_error *error) {
  if (!result.ok()) return report_error(result, error);
  if (event == nullptr) return KILN_OK;
  if (*event == nullptr) *event = new kiln_event;
  if ((*event)->loader != loader) (*event)->loader = loader;
  (*event)->handle = std::move(*made);
  return KILN_OK;
}

}  // namespace kiln::runtime

namespace {

static_assert(KILN_MAX_WAITS == 64, "as the message says");

kiln_status set_memory(kiln_kernel *kernel, unsigned index, const Memory &memory,
                       kiln_error *error) {
  const cl_mem object = memory.handle.get();
  Status e = check_context(*kernel->kernel.program->loader, *memory.loader,
                           "the memory and the kernel are of other contexts");
  if (e.ok()) e = check_memory(kernel->kernel, index, memory.image);
  if (e.ok()) e = set_argument(&kernel->kernel, index, &object, sizeof(object), true);
  return report_error(e, error);
}

constexpr unsigned kQueueFlags = KILN_QUEUE_OUT_OF_ORDER | KILN_QUEUE_NO_PROFILING;

// Takes a reference to an event, which must belong to the loader's context.
Status retain_event(const Loader &loader, cl_event from, Handle<cl_event> *out) {
  const OpenCL &cl = *loader.device->cl;
  cl_context context = nullptr;
  cl_int code = cl.clGetEventInfo(from, CL_EVENT_CONTEXT, sizeof(context), &context, nullptr);
  if (code != CL_SUCCESS) return cl_failure("clGetEventInfo", code);
  if (context != loader.context.get()) {
    return Status::error(Code::bad_argument, "the cl_event is of another context");
  }
  code = cl.clRetainEvent(from);
  if (code != CL_SUCCESS) return cl_failure("clRetainEvent", code);
  *out = Handle<cl_event>(from, cl.clReleaseEvent);
  return {};
}

}  // namespace

kiln_status kiln_kernel_create(kiln_program *program, const char *name, kiln_kernel **out,
                               kiln_error *error) {
  KILN_REQUIRE(program != nullptr && out != nullptr, error);
  auto *made = new kiln_kernel;
  const Status e = create_kernel(program->program, name, &made->kernel);
  return hand_out(e, made, out, error);
}

void kiln_kernel_release(kiln_kernel *kernel) { delete kernel; }

cl_kernel kiln_kernel_cl(const kiln_kernel *kernel) {
  return kernel == nullptr ? nullptr : kernel->kernel.handle.get();
}

kiln_status kiln_kernel_set_value(kiln_kernel *kernel, unsigned index, const void *value,
                                  size_t size, kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && value != nullptr, error);
  Status e = check_bytes(kernel->kernel, index, size);
  if (e.ok()) e = set_argument(&kernel->kernel, index, value, size, false);
  return report_error(e, error);
}

kiln_status kiln_kernel_set_typed(kiln_kernel *kernel, unsigned index, kiln_type type,
                                  unsigned components, const void *value, kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && value != nullptr, error);
  return report_error(
      set_typed(&kernel->kernel, index, static_cast<unsigned>(type), components, value), error);
}

kiln_status kiln_kernel_set_buffer(kiln_kernel *kernel, unsigned index, kiln_buffer *buffer,
                                   kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && buffer != nullptr, error);
  return set_memory(kernel, index, buffer->memory, error);
}

kiln_status kiln_kernel_set_image(kiln_kernel *kernel, unsigned index, kiln_image *image,
                                  kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && image != nullptr, error);
  return set_memory(kernel, index, image->memory, error);
}

kiln_status kiln_kernel_set_local(kiln_kernel *kernel, unsigned index, size_t size,
                                  kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && size != 0, error);
  return report_error(set_local(&kernel->kernel, index, size), error);
}

kiln_status kiln_kernel_set_sampler(kiln_kernel *kernel, unsigned index, cl_sampler sampler,
                                    kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && sampler != nullptr, error);
  Status e = check_argument(kernel->kernel, index, kTakesSampler, 1);
  if (e.ok()) e = set_argument(&kernel->kernel, index, &sampler, sizeof(sampler), false);
  return report_error(e, error);
}

kiln_status kiln_kernel_set_svm(kiln_kernel *kernel, unsigned index, const void *pointer,
                                kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && pointer != nullptr, error);
  return report_error(set_svm(&kernel->kernel, index, pointer), error);
}

kiln_status kiln_queue_create(kiln_loader *loader, const kiln_queue_options *options,
                              kiln_queue **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && out != nullptr, error);
  kiln_queue_options chosen = {};
  if (options != nullptr) {
    const char *wrong = read_options(options, sizeof(chosen), &chosen);
    if ((chosen.flags & ~kQueueFlags) != 0) wrong = "unknown flag";
    if (!known_levels(chosen.priority, chosen.throttle)) wrong = "unknown level";
    if (chosen.reserved != 0) wrong = "reserved is not zero";
    if (wrong != nullptr) return refuse_options("kiln_queue_options", wrong, error);
  }
  auto *made = new kiln_queue;
  return hand_out(create_queue(loader->loader, chosen, &made->queue), made, out, error);
}

void kiln_queue_release(kiln_queue *queue) { delete queue; }

cl_command_queue kiln_queue_cl(const kiln_queue *queue) {
  return queue == nullptr ? nullptr : queue->queue.handle.get();
}

unsigned kiln_queue_hints(const kiln_queue *queue) {
  return queue == nullptr ? 0 : queue->queue.hints;
}

kiln_status kiln_queue_flush(kiln_queue *queue, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr, error);
  const cl_int code = queue->queue.loader->device->cl->clFlush(queue->queue.handle.get());
  return code == CL_SUCCESS ? KILN_OK : report_error(cl_failure("clFlush", code), error);
}

kiln_status kiln_queue_finish(kiln_queue *queue, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr, error);
  const cl_int code = queue->queue.loader->device->cl->clFinish(queue->queue.handle.get());
  return code == CL_SUCCESS ? KILN_OK : report_error(cl_failure("clFinish", code), error);
}

kiln_status kiln_kernel_plan(const kiln_kernel *kernel, const kiln_ndrange *range,
                             kiln_ndrange *out, kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && range != nullptr && out != nullptr, error);
  LaunchPlan plan;
  if (Status e = plan_launch(kernel->kernel, *range, &plan); !e.ok()) return report_error(e, error);
  out->dimensions = plan.dimensions;
  for (unsigned i = 0; i < 3; ++i) {
    out->global[i] = plan.global[i];
    out->local[i] = plan.local[i];
    out->offset[i] = plan.offset[i];
  }
  return KILN_OK;
}

kiln_status kiln_kernel_local_source(const kiln_kernel *kernel, const kiln_ndrange *range,
                                     kiln_local_source *out, kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && range != nullptr && out != nullptr, error);
  LaunchPlan plan;
  if (Status e = plan_launch(kernel->kernel, *range, &plan); !e.ok()) return report_error(e, error);
  *out = plan.source;
  return KILN_OK;
}

const char *kiln_kernel_suggestion_refused(const kiln_kernel *kernel, const kiln_ndrange *range) {
  if (kernel == nullptr || range == nullptr) return "";
  return suggestion_refused(kernel->kernel, *range);
}

kiln_status kiln_launch(kiln_queue *queue, kiln_kernel *kernel, const kiln_ndrange *range,
                        const kiln_event *const *wait, size_t wait_count, kiln_event **event,
                        kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && kernel != nullptr && range != nullptr, error);
  const std::shared_ptr<const Loader> &loader = queue->queue.loader;
  LaunchPlan plan;
  Waits waits;
  Handle<cl_event> made;
  Status e = check_kernel(*loader, kernel->kernel);
  if (e.ok()) e = plan_launch_on(queue->queue.handle.get(), &kernel->kernel, *range, &plan);
  if (e.ok()) e = collect_waits(*loader, wait, wait_count, &waits);
  if (e.ok()) {
    e = enqueue(queue->queue, &kernel->kernel, plan, waits, event == nullptr ? nullptr : &made);
  }
  return end_command(e, loader, &made, event, error);
}

kiln_status kiln_event_from_cl(kiln_loader *loader, cl_event from, kiln_event **event,
                               kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && from != nullptr && event != nullptr, error);
  Handle<cl_event> made;
  const Status e = retain_event(*loader->loader, from, &made);
  return end_command(e, loader->loader, &made, event, error);
}

void kiln_event_release(kiln_event *event) { delete event; }

cl_event kiln_event_cl(const kiln_event *event) {
  return event == nullptr ? nullptr : event->handle.get();
}

kiln_status kiln_event_wait(kiln_event *event, kiln_error *error) {
  KILN_REQUIRE(event != nullptr, error);
  const cl_event handle = event->handle.get();
  const cl_int code = event->loader->device->cl->clWaitForEvents(1, &handle);
  return code == CL_SUCCESS ? KILN_OK : report_error(cl_failure("clWaitForEvents", code), error);
}

kiln_status kiln_event_times(kiln_event *event, kiln_times *out, kiln_error *error) {
  KILN_REQUIRE(event != nullptr && out != nullptr, error);
  if (kiln_status status = kiln_event_wait(event, error); status != KILN_OK) return status;
  const cl_profiling_info what[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                    CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END,
                                    CL_PROFILING_COMMAND_COMPLETE};
  cl_ulong values[5] = {};
  for (int i = 0; i < 5; ++i) {
    const cl_int code = event->loader->device->cl->clGetEventProfilingInfo(
        event->handle.get(), what[i], sizeof(cl_ulong), &values[i], nullptr);
    // COMPLETE came with OpenCL 2.0, and no command is complete before it has ended.
    if (i == 4 && (code != CL_SUCCESS || values[4] < values[3])) {
      values[4] = values[3];
    } else if (code != CL_SUCCESS) {
      return report_error(cl_failure("clGetEventProfilingInfo", code), error);
    }
  }
  *out = {values[0], values[1], values[2], values[3], values[4]};
  return KILN_OK;
}

kiln_status kiln_event_set_callback(kiln_event *event, kiln_event_function function, void *user,
                                    kiln_error *error) {
  KILN_REQUIRE(event != nullptr && function != nullptr, error);
  const auto set = event->loader->device->cl->clSetEventCallback;
  if (set == nullptr) {
    return report_error(
        Status::error(Code::requirement, "the OpenCL library has no clSetEventCallback"), error);
  }
  const cl_int code = set(event->handle.get(), CL_COMPLETE, function, user);
  if (code == CL_SUCCESS) return KILN_OK;
  return report_error(cl_failure("clSetEventCallback", code), error);
}
