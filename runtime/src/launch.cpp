#include "launch.hpp"

namespace kiln::runtime {
namespace {

template <typename T>
T kernel_fact(const Device &device, cl_kernel kernel, cl_kernel_work_group_info what, T otherwise) {
  T value = otherwise;
  const cl_int code =
      device.cl->clGetKernelWorkGroupInfo(kernel, device.id, what, sizeof(T), &value, nullptr);
  return code == CL_SUCCESS ? value : otherwise;
}

WorkGroupLimits query_limits(const Device &device, cl_kernel kernel) {
  WorkGroupLimits limits;
  limits.work_group_size = kernel_fact<std::size_t>(device, kernel, CL_KERNEL_WORK_GROUP_SIZE,
                                                    device.capabilities.max_work_group_size);
  limits.preferred_multiple =
      kernel_fact<std::size_t>(device, kernel, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 1);
  limits.required =
      kernel_fact<Size3>(device, kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, Size3{0, 0, 0});
  for (std::size_t i = 0; i < 3; ++i) {
    limits.work_item_sizes[i] = device.capabilities.max_work_item_sizes[i];
  }
  return limits;
}

// The kernel that was made to check the program, else a new one.
Error take_kernel(LoadedProgram &program, unsigned index, Handle<cl_kernel> *out) {
  const std::lock_guard<std::mutex> lock(program.mutex);
  *out = std::move(program.built.kernels[index]);
  if (*out) return {};
  const OpenCL &cl = *program.loader->device->cl;
  const char *name = program.variant->kernels()->Get(index)->name()->c_str();
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = cl.clCreateKernel(program.built.program.get(), name, &code);
  if (kernel == nullptr || code != CL_SUCCESS) return cl_failure("clCreateKernel", code);
  *out = Handle<cl_kernel>(kernel, cl.clReleaseKernel);
  return {};
}

}  // namespace

Error create_kernel(const std::shared_ptr<LoadedProgram> &program, const std::string &name,
                    Kernel *out) {
  const auto &kernels = *program->variant->kernels();
  unsigned index = 0;
  while (!name.empty() && index < kernels.size() && kernels.Get(index)->name()->str() != name) {
    ++index;
  }
  if (index == kernels.size()) {
    return failure(KILN_ERROR_NOT_IN_PACK,
                   "variant " + program->variant->name()->str() + " has no kernel " + name);
  }
  const Device &device = *program->loader->device;
  if (Error e = take_kernel(*program, index, &out->handle); !e.ok()) return e;
  const cl_kernel kernel = out->handle.get();
  out->program = program;
  out->limits = query_limits(device, kernel);
  const packs::fb::Size3 &stored = *program->variant->local_size();
  out->stored_local_size = {stored.x(), stored.y(), stored.z()};
  return {};
}

Error plan_launch(const Kernel &kernel, const kiln_ndrange &range, LaunchPlan *out) {
  if (range.dimensions < 1 || range.dimensions > 3) {
    return failure(KILN_ERROR_ARGUMENT,
                   "an NDRange has 1 to 3 dimensions, not " + std::to_string(range.dimensions));
  }
  Size3 global{1, 1, 1};
  Size3 wanted = kernel.stored_local_size;
  for (unsigned i = 0; i < range.dimensions; ++i) {
    global[i] = range.global[i];
    if (global[i] == 0) {
      return failure(KILN_ERROR_ARGUMENT, "the NDRange is empty in dimension " + std::to_string(i));
    }
  }
  if (range.local[0] != 0) wanted = {range.local[0], range.local[1], range.local[2]};
  for (unsigned i = range.dimensions; i < 3; ++i) wanted[i] = wanted[0] == 0 ? 0 : 1;
  out->dimensions = range.dimensions;
  out->local = fit_local_size(global, wanted, kernel.limits);
  out->global = pad_global_size(global, out->local);
  return {};
}

Error create_queue(const std::shared_ptr<const Loader> &loader, Queue *out) {
  const Device &device = *loader->device;
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = device.cl->clCreateCommandQueue(loader->context.get(), device.id,
                                                           CL_QUEUE_PROFILING_ENABLE, &code);
  if (queue == nullptr || code != CL_SUCCESS) return cl_failure("clCreateCommandQueue", code);
  out->loader = loader;
  out->handle = Handle<cl_command_queue>(queue, device.cl->clReleaseCommandQueue);
  return {};
}

Error enqueue(const Queue &queue, const Kernel &kernel, const LaunchPlan &plan,
              Handle<cl_event> *event) {
  const OpenCL &cl = *queue.loader->device->cl;
  cl_event launched = nullptr;
  cl_int code =
      cl.clEnqueueNDRangeKernel(queue.handle.get(), kernel.handle.get(), plan.dimensions, nullptr,
                                plan.global.data(), plan.local.data(), 0, nullptr, &launched);
  if (launched == nullptr || code != CL_SUCCESS) {
    return cl_failure("clEnqueueNDRangeKernel", code);
  }
  *event = Handle<cl_event>(launched, cl.clReleaseEvent);
  code = cl.clFlush(queue.handle.get());
  return code == CL_SUCCESS ? Error{} : cl_failure("clFlush", code);
}

}  // namespace kiln::runtime
