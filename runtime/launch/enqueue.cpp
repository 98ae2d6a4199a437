// SPDX-License-Identifier: Apache-2.0
// Creates kernels and queues, plans a launch, and enqueues it, behind its marker if it needs one.
#include "runtime/launch/enqueue.hpp"

#include "runtime/launch/first_launch.hpp"
#include "runtime/load/tuning.hpp"

namespace kiln::runtime {

namespace {

template <typename T>
T kernel_info(const Device &device, cl_kernel kernel, cl_kernel_work_group_info what, T otherwise) {
  T value = otherwise;
  const cl_int code =
      device.cl->clGetKernelWorkGroupInfo(kernel, device.id, what, sizeof(T), &value, nullptr);
  return code == CL_SUCCESS ? value : otherwise;
}

packs::KernelRef stored_kernel(const LoadedProgram &program, unsigned index) {
  return program.variant.kernels()[index];
}

Status new_kernel(const LoadedProgram &program, unsigned index, Handle<cl_kernel> *out) {
  const UsingCompiler using_compiler;  // some drivers compile the kernel here
  const OpenCL &cl = *program.loader->device->cl;
  const char *name = stored_kernel(program, index).name().data();
  cl_int code = CL_SUCCESS;
  Handle<cl_kernel> made(cl.clCreateKernel(program.built.program.get(), name, &code),
                         cl.clReleaseKernel);
  if (!made || code != CL_SUCCESS) return cl_failure("clCreateKernel", code);
  *out = std::move(made);
  return {};
}

// Takes the kernel object that was created to check the program, or else creates a new one.
Status take_kernel(LoadedProgram &program, unsigned index, Handle<cl_kernel> *out) {
  const std::lock_guard<std::mutex> lock(program.mutex);
  *out = std::move(program.built.kernels[index]);
  return *out ? Status{} : new_kernel(program, index, out);
}

// Returns the local size measured for launches of this size class on this device or one like it, or
// else the variant's own size; zeros if there is none.
NDSize stored_local_size(const LoadedProgram &program, unsigned index, unsigned class_of,
                         kiln_local_source *source) {
  static_assert(static_cast<unsigned>(TuningLevel::device) == KILN_LOCAL_DEVICE);
  static_assert(static_cast<unsigned>(TuningLevel::standard) == KILN_LOCAL_DEFAULT);
  const Loader &loader = *program.loader;
  const packs::TuningQuery query{program.name, program.variant.name(),
                                 stored_kernel(program, index).name(),
                                 static_cast<packs::SizeClass>(class_of)};
  TuningLevel level{};
  const packs::TuningRef tuning = find_tuning(*loader.pack, query, loader.device->description,
                                              loader.device->key().hash(), &level);
  const auto stored = tuning ? tuning.local_size() : program.variant.local_size();
  *source = tuning ? static_cast<kiln_local_source>(level) : KILN_LOCAL_VARIANT;
  return {stored[0], stored[1], stored[2]};
}

// Takes the driver's suggestion for launches of this size class, unless it is wider than this
// range.
bool take_suggestion(const Kernel &kernel, unsigned dimensions, const NDSize &global,
                     NDSize *wanted) {
  const auto class_of = static_cast<std::size_t>(size_class(global));
  const NDSize &local = kernel.suggestions[dimensions - 1][class_of].local;
  if (local[0] == 0) return false;
  const NDSize range = suggestion_range(global, kernel.limits);
  for (unsigned i = 0; i < dimensions; ++i) {
    if (local[i] > range[i]) return false;
  }
  *wanted = local;
  return true;
}

// Returns the requested local size, before it is fitted to the limits; zeros: choose one.
NDSize wanted_size(const Kernel &kernel, const kiln_ndrange &range, const NDSize &global,
                   kiln_local_source *source) {
  const auto class_of = static_cast<std::size_t>(size_class(global));
  NDSize wanted = kernel.stored_local_sizes[class_of];
  if (range.local[0] != 0) {
    wanted = {range.local[0], range.local[1], range.local[2]};
    *source = KILN_LOCAL_RANGE;
  } else if (wanted[0] != 0) {
    *source = kernel.stored_sources[class_of];
  } else if (take_suggestion(kernel, range.dimensions, global, &wanted)) {
    *source = KILN_LOCAL_SUGGESTED;
  } else {
    *source = kernel.limits.adjacent_threads != 0 ? KILN_LOCAL_PROFILE : KILN_LOCAL_GUESS;
  }
  if (kernel.limits.required[0] != 0) *source = KILN_LOCAL_KERNEL;
  for (unsigned i = range.dimensions; i < 3; ++i) wanted[i] = wanted[0] == 0 ? 0 : 1;
  return wanted;
}

Status read_range(const kiln_ndrange &range, NDSize *global) {
  if (range.dimensions < 1 || range.dimensions > 3) {
    return Status::error(Code::bad_argument,
                         {"an NDRange has 1 to 3 dimensions, not ", decimal(range.dimensions)});
  }
  *global = {1, 1, 1};
  for (unsigned i = 0; i < range.dimensions; ++i) {
    (*global)[i] = range.global[i];
    if (range.global[i] == 0) {
      return Status::error(Code::bad_argument, {"the NDRange is empty in dimension ", decimal(i)});
    }
  }
  return {};
}

Status read_offset(const Kernel &kernel, const kiln_ndrange &range, NDSize *offset) {
  *offset = {0, 0, 0};
  for (unsigned i = 0; i < range.dimensions; ++i) {
    (*offset)[i] = range.offset[i];
    if (range.offset[i] == 0 || !kernel.rules.no_offset) continue;
    return Status::error(Code::bad_argument, {"the variant ", kernel.program->variant.name(),
                                              " requires no_global_offset"});
  }
  return {};
}

Status check_set(unsigned index, const char *call, cl_int code) {
  if (code == CL_SUCCESS) return {};
  return argument_failure(index, cl_failure(call, code));
}

}  // namespace

WorkGroupLimits query_limits(const Device &device, cl_kernel kernel) {
  WorkGroupLimits limits;
  limits.work_group_size = kernel_info<std::size_t>(device, kernel, CL_KERNEL_WORK_GROUP_SIZE,
                                                    device.capabilities.max_work_group_size);
  limits.preferred_multiple =
      kernel_info<std::size_t>(device, kernel, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 1);
  limits.required =
      kernel_info<NDSize>(device, kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, NDSize{0, 0, 0});
  for (std::size_t i = 0; i < 3; ++i) {
    limits.work_item_sizes[i] = device.capabilities.max_work_item_sizes[i];
  }
  limits.adjacent_threads = device.description.adjacent_threads;
  return limits;
}

Status argument_failure(unsigned index, const Status &error) {
  return {error.code, error.cl_error, concat({"argument ", decimal(index), ": ", error.message})};
}

Kernel::~Kernel() = default;
Queue::~Queue() = default;

Status create_kernel(const std::shared_ptr<LoadedProgram> &program, const char *name, Kernel *out) {
  const packs::KernelRefs kernels = program->variant.kernels();
  unsigned index = 0;
  while (name != nullptr && index < kernels.size() && kernels[index].name() != name) ++index;
  if (index == kernels.size()) {
    std::string names;
    for (unsigned i = 0; i < kernels.size(); ++i) {
      names += concat({i == 0 ? "; it has " : ", ", kernels[i].name()});
    }
    return Status::error(Code::not_in_pack, {"variant ", program->variant.name(), " of ",
                                             program->name, " has no kernel ", name, names});
  }
  const Device &device = *program->loader->device;
  if (Status e = take_kernel(*program, index, &out->handle); !e.ok()) return e;
  out->program = program;
  out->index = index;
  out->limits = query_limits(device, out->handle.get());
  out->rules = launch_rules(program->variant.requirements());
  out->non_uniform_work_groups =
      device.capabilities.non_uniform_work_groups && out->limits.required[0] == 0 &&
      options_allow_non_uniform_work_groups(program->variant.options().data());
  for (unsigned i = 0; i < packs::kSizeClasses; ++i) {
    out->stored_local_sizes[i] = stored_local_size(*program, index, i, &out->stored_sources[i]);
  }
  out->may_suggest = out->limits.required[0] == 0 &&
                     (program->loader->notes.flags & KILN_DRIVER_NEVER_SUGGEST) == 0;
  out->argument_count = stored_kernel(*program, index).arguments();
  if (out->argument_count == packs::kUnknownArguments) {
    cl_uint count = 0;
    const cl_int code = device.cl->clGetKernelInfo(out->handle.get(), CL_KERNEL_NUM_ARGS,
                                                   sizeof(count), &count, nullptr);
    if (code != CL_SUCCESS) return cl_failure("clGetKernelInfo", code);
    out->argument_count = count;
  }
  out->arguments.reset(new KernelArgument[out->argument_count]);
  return {};
}

Status set_argument(Kernel *kernel, unsigned index, const void *value, std::size_t size,
                    bool is_memory) {
  const OpenCL &cl = *kernel->program->loader->device->cl;
  const cl_int code = cl.clSetKernelArg(kernel->handle.get(), index, size, value);
  if (Status e = check_set(index, "clSetKernelArg", code); !e.ok()) return e;
  if (index >= kernel->argument_count) return {};
  KernelArgument &argument = kernel->arguments[index];
  argument.value = {};
  if (value == nullptr) {
    argument.value.local = size;
  } else {
    argument.value.bytes.assign(static_cast<const char *>(value), size);
  }
  argument.is_memory = is_memory;
  return {};
}

Status set_svm_argument(Kernel *kernel, unsigned index, const void *pointer) {
  const OpenCL &cl = *kernel->program->loader->device->cl;
  const cl_int code = cl.clSetKernelArgSVMPointer(kernel->handle.get(), index, pointer);
  if (Status e = check_set(index, "clSetKernelArgSVMPointer", code); !e.ok()) return e;
  if (index >= kernel->argument_count) return {};
  kernel->arguments[index] = {};
  kernel->arguments[index].value.svm = pointer;
  return {};
}

cl_int pass_argument(const OpenCL &cl, cl_kernel kernel, unsigned index,
                     const ArgumentValue &value) {
  if (value.svm != nullptr) return cl.clSetKernelArgSVMPointer(kernel, index, value.svm);
  return cl.clSetKernelArg(kernel, index, value.size(), value.data());
}

Status copy_kernel(const Kernel &kernel, Handle<cl_kernel> *out) {
  const OpenCL &cl = *kernel.program->loader->device->cl;
  if (Status e = new_kernel(*kernel.program, kernel.index, out); !e.ok()) return e;
  for (unsigned i = 0; i < kernel.argument_count; ++i) {
    const ArgumentValue &value = kernel.arguments[i].value;
    Status e = value.is_set()
                   ? check_set(i, "clSetKernelArg", pass_argument(cl, out->get(), i, value))
                   : argument_failure(i, Status::error(Code::bad_argument, "not set through Kiln"));
    if (!e.ok()) return e;
  }
  return {};
}

Status plan_launch(const Kernel &kernel, const kiln_ndrange &range, LaunchPlan *out) {
  NDSize global;
  if (Status e = read_range(range, &global); !e.ok()) return e;
  if (Status e = read_offset(kernel, range, &out->offset); !e.ok()) return e;
  const NDSize wanted = wanted_size(kernel, range, global, &out->source);
  out->dimensions = range.dimensions;
  out->local = fit_local_size(global, wanted, kernel.limits);
  Status status =
      apply_multiple(kernel.rules, kernel.limits, out->source == KILN_LOCAL_RANGE, &out->local);
  if (!status.ok()) return status;
  out->padded = pad_global_size(global, out->local);
  const bool whole = kernel.rules.multiple == NDSize{1, 1, 1} && kernel.non_uniform_work_groups;
  out->global = whole ? global : out->padded;
  return {};
}

// Asks the driver behind a marker, if there is an overlay: after a death in the call the next start
// does not ask.
Status ask_behind_marker(const Kernel &kernel, SuggestLocalSize suggest,
                         const SuggestionQuery &query, NDSize *local) {
  constexpr DriverTask kSuggesting{0x7375676765737421u};  // as journals name it
  const Loader &loader = *kernel.program->loader;
  Persistence *persistence = loader.persistence.get();
  Checked checked;
  if (persistence != nullptr) checked = persistence->check(kSuggesting, kOptional);
  if (!checked)
    return Status::error(Code::opencl, "an earlier process died when it asked the driver");
  if (persistence == nullptr || survived(checked.last)) {
    return ask_suggestion(suggest, query, kernel.limits, local);
  }
  Attempt attempt(persistence, kSuggesting, loader.deadline_milliseconds);
  Status status = ask_suggestion(suggest, query, kernel.limits, local);
  attempt.end(Event::proven);
  return status;
}

Status plan_launch_on(cl_command_queue queue, Kernel *kernel, const kiln_ndrange &range,
                      LaunchPlan *out) {
  Status error = plan_launch(*kernel, range, out);
  const bool guessed = out->source == KILN_LOCAL_GUESS || out->source == KILN_LOCAL_PROFILE;
  if (!error.ok() || !kernel->may_suggest || !guessed) return error;
  NDSize global;
  if (error = read_range(range, &global); !error.ok()) return error;
  const auto class_of = static_cast<std::size_t>(size_class(global));
  Suggestion &suggestion = kernel->suggestions[range.dimensions - 1][class_of];
  if (suggestion.asked) return {};
  suggestion.asked = true;
  const SuggestLocalSize suggest = suggest_function(*kernel->program->loader->device);
  kernel->may_suggest = suggest != nullptr;
  if (!kernel->may_suggest) return {};
  const SuggestionQuery query{queue, kernel->handle.get(), range.dimensions, global};
  NDSize local;
  const Status asked = ask_behind_marker(*kernel, suggest, query, &local);
  if (!asked.ok()) {
    suggestion.refused = asked.message;
    return {};
  }
  suggestion.local = local;
  return plan_launch(*kernel, range, out);
}

const char *suggestion_refused(const Kernel &kernel, const kiln_ndrange &range) {
  NDSize global;
  if (!read_range(range, &global).ok()) return "";
  const auto class_of = static_cast<std::size_t>(size_class(global));
  return kernel.suggestions[range.dimensions - 1][class_of].refused.c_str();
}

Status create_queue_as(const Loader &loader, cl_command_queue_properties properties,
                       const QueueHints *hints, bool always, Queue *out) {
  const Device &device = *loader.device;
  const auto create = create_queue_with_properties(*device.cl, device.platform,
                                                   device.identity.text(Field::device_version),
                                                   device.capabilities);
  cl_queue_properties list[kQueueProperties] = {CL_QUEUE_PROPERTIES, properties, 0};
  unsigned taken = 0;
  if (create != nullptr && hints != nullptr) {
    taken = add_queue_hints(device.capabilities, *hints, &list[2]);
  }
  cl_int code = CL_SUCCESS;
  Handle<cl_command_queue> made(
      create != nullptr && (always || taken != 0)
          ? create(loader.context.get(), device.id, list, &code)
          : device.cl->clCreateCommandQueue(loader.context.get(), device.id, properties, &code),
      device.cl->clReleaseCommandQueue);
  if (!made || code != CL_SUCCESS) return cl_failure("clCreateCommandQueue", code);
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) taken |= KILN_HINT_OUT_OF_ORDER;
  out->hints = taken;
  out->properties = properties;
  out->handle = std::move(made);
  return {};
}

Status create_queue(const std::shared_ptr<const Loader> &loader, const kiln_queue_options &options,
                    Queue *out) {
  const QueueHints hints = {options.priority, options.throttle};
  cl_command_queue_properties properties = 0;
  if ((options.flags & KILN_QUEUE_NO_PROFILING) == 0) properties |= CL_QUEUE_PROFILING_ENABLE;
  if ((options.flags & KILN_QUEUE_OUT_OF_ORDER) != 0) {
    properties |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  }
  out->loader = loader;
  // Tries the queue as requested, then without hints, then in order.
  Status error = create_queue_as(*loader, properties, &hints, false, out);
  if (!error.ok()) error = create_queue_as(*loader, properties, nullptr, false, out);
  if (!error.ok()) {
    properties &= CL_QUEUE_PROFILING_ENABLE;
    error = create_queue_as(*loader, properties, nullptr, false, out);
  }
  return error;
}

Status take_event(const OpenCL &cl, const char *call, cl_int code, cl_event event,
                  Handle<cl_event> *wanted) {
  Handle<cl_event> made(event, cl.clReleaseEvent);
  if (code != CL_SUCCESS || (wanted != nullptr && !made)) return cl_failure(call, code);
  if (wanted != nullptr) *wanted = std::move(made);
  return {};
}

Status enqueue(const Queue &queue, Kernel *kernel, const LaunchPlan &plan, const Waits &waits,
               Handle<cl_event> *event) {
  const OpenCL &cl = *queue.loader->device->cl;
  cl_event launched = nullptr;
  FirstLaunch first(*kernel->program, kernel->index);
  cl_event *wanted = event == nullptr && !first.marked() ? nullptr : &launched;
  const auto launch = [&](const NDSize &global) {
    return cl.clEnqueueNDRangeKernel(queue.handle.get(), kernel->handle.get(), plan.dimensions,
                                     plan.global_offset(), global.data(), plan.local.data(),
                                     waits.count, waits.data(), wanted);
  };
  cl_int code = launch(plan.global);
  if (code == CL_INVALID_WORK_GROUP_SIZE && plan.global != plan.padded) {
    // A driver may treat a program from IL or a binary as OpenCL C 1.2, whatever its source was.
    code = launch(plan.padded);
    if (code == CL_SUCCESS) kernel->non_uniform_work_groups = false;
  }
  if (code == CL_SUCCESS) first.end_with(launched);
  return take_event(cl, "clEnqueueNDRangeKernel", code, launched, event);
}

}  // namespace kiln::runtime
