// The C API: kernels, memory, queues and launches.
#include "api.hpp"

using namespace kiln::runtime;

namespace {

kiln_status set_argument(kiln_kernel *kernel, unsigned index, const void *value, std::size_t size,
                         kiln_error *error) {
  const OpenCL &cl = *kernel->kernel.program->loader->device->cl;
  const cl_int code = cl.clSetKernelArg(kernel->kernel.handle.get(), index, size, value);
  if (code == CL_SUCCESS) return KILN_OK;
  Error e = cl_failure("clSetKernelArg", code);
  e.message = "argument " + std::to_string(index) + ": " + e.message;
  return report_error(e, error);
}

kiln_status set_memory(kiln_kernel *kernel, unsigned index, const Memory &memory,
                       kiln_error *error) {
  const cl_mem object = memory.handle.get();
  return set_argument(kernel, index, &object, sizeof(object), error);
}

// Moves a new object behind its handle, or reports why there is none.
template <typename HandleType, typename Object>
kiln_status hand_out(const Error &made, Object &&object, HandleType **out, kiln_error *error) {
  if (!made.ok()) return report_error(made, error);
  *out = new HandleType{std::forward<Object>(object)};
  return KILN_OK;
}

bool known_access(kiln_access access) {
  return access == KILN_ACCESS_READ || access == KILN_ACCESS_WRITE || access == KILN_ACCESS_BOTH;
}

}  // namespace

kiln_status kiln_kernel_create(kiln_program *program, const char *name, kiln_kernel **out,
                               kiln_error *error) {
  KILN_REQUIRE(program != nullptr && out != nullptr, error);
  Kernel kernel;
  const Error e = create_kernel(program->program, name == nullptr ? "" : name, &kernel);
  return hand_out(e, std::move(kernel), out, error);
}

void kiln_kernel_release(kiln_kernel *kernel) { delete kernel; }

cl_kernel kiln_kernel_cl(const kiln_kernel *kernel) {
  return kernel == nullptr ? nullptr : kernel->kernel.handle.get();
}

kiln_status kiln_kernel_set_value(kiln_kernel *kernel, unsigned index, const void *value,
                                  size_t size, kiln_error *error) {
  KILN_REQUIRE(kernel != nullptr && value != nullptr, error);
  return set_argument(kernel, index, value, size, error);
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

kiln_status kiln_buffer_create(kiln_loader *loader, size_t size, kiln_access access,
                               kiln_buffer **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && out != nullptr, error);
  if (!known_access(access)) {
    return report_error(failure(KILN_ERROR_ARGUMENT, "unknown access"), error);
  }
  Memory memory;
  const Error e = create_buffer(loader->loader, size, access, &memory);
  return hand_out(e, std::move(memory), out, error);
}

void kiln_buffer_release(kiln_buffer *buffer) { delete buffer; }

cl_mem kiln_buffer_cl(const kiln_buffer *buffer) {
  return buffer == nullptr ? nullptr : buffer->memory.handle.get();
}

kiln_status kiln_buffer_map(kiln_queue *queue, kiln_buffer *buffer, void **out, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr && out != nullptr, error);
  if (Error e = map_buffer(queue->queue, &buffer->memory); !e.ok()) return report_error(e, error);
  *out = buffer->memory.mapped;
  return KILN_OK;
}

kiln_status kiln_buffer_unmap(kiln_queue *queue, kiln_buffer *buffer, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr, error);
  return report_error(unmap(queue->queue, &buffer->memory), error);
}

kiln_status kiln_image_create(kiln_loader *loader, size_t width, size_t height, unsigned channels,
                              kiln_access access, kiln_image **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && out != nullptr, error);
  if (!known_access(access)) {
    return report_error(failure(KILN_ERROR_ARGUMENT, "unknown access"), error);
  }
  Memory memory;
  const Error e = create_image(loader->loader, width, height, channels, access, &memory);
  return hand_out(e, std::move(memory), out, error);
}

void kiln_image_release(kiln_image *image) { delete image; }

cl_mem kiln_image_cl(const kiln_image *image) {
  return image == nullptr ? nullptr : image->memory.handle.get();
}

kiln_status kiln_image_map(kiln_queue *queue, kiln_image *image, void **out, size_t *row_pitch,
                           kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr && out != nullptr && row_pitch != nullptr,
               error);
  Error e = map_image(queue->queue, &image->memory, row_pitch);
  if (!e.ok()) return report_error(e, error);
  *out = image->memory.mapped;
  return KILN_OK;
}

kiln_status kiln_image_unmap(kiln_queue *queue, kiln_image *image, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr, error);
  return report_error(unmap(queue->queue, &image->memory), error);
}

kiln_status kiln_queue_create(kiln_loader *loader, kiln_queue **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && out != nullptr, error);
  Queue queue;
  const Error e = create_queue(loader->loader, &queue);
  return hand_out(e, std::move(queue), out, error);
}

void kiln_queue_release(kiln_queue *queue) { delete queue; }

cl_command_queue kiln_queue_cl(const kiln_queue *queue) {
  return queue == nullptr ? nullptr : queue->queue.handle.get();
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
  if (Error e = plan_launch(kernel->kernel, *range, &plan); !e.ok()) return report_error(e, error);
  out->dimensions = plan.dimensions;
  for (unsigned i = 0; i < 3; ++i) {
    out->global[i] = plan.global[i];
    out->local[i] = plan.local[i];
  }
  return KILN_OK;
}

kiln_status kiln_launch(kiln_queue *queue, kiln_kernel *kernel, const kiln_ndrange *range,
                        kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && kernel != nullptr && range != nullptr, error);
  LaunchPlan plan;
  if (Error e = plan_launch(kernel->kernel, *range, &plan); !e.ok()) return report_error(e, error);
  Handle<cl_event> launched;
  Error e = enqueue(queue->queue, kernel->kernel, plan, &launched);
  if (!e.ok()) return report_error(e, error);
  if (event != nullptr) *event = new kiln_event{queue->queue.loader, std::move(launched)};
  return KILN_OK;
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
  const cl_profiling_info what[4] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                     CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
  cl_ulong values[4] = {};
  for (int i = 0; i < 4; ++i) {
    const cl_int code = event->loader->device->cl->clGetEventProfilingInfo(
        event->handle.get(), what[i], sizeof(cl_ulong), &values[i], nullptr);
    if (code != CL_SUCCESS) return report_error(cl_failure("clGetEventProfilingInfo", code), error);
  }
  *out = {values[0], values[1], values[2], values[3]};
  return KILN_OK;
}

void kiln_event_release(kiln_event *event) { delete event; }
