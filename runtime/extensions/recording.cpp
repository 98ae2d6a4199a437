// SPDX-License-Identifier: Apache-2.0
// Finds the functions of both extensions, checks what the device supports, records, and lists the
// changes in the form that cl_khr_command_buffer_mutable_dispatch and cl_qcom_recordable_queues
// take.
#include "runtime/extensions/recording.hpp"

#include <cstring>

namespace kiln::runtime {

namespace {

constexpr cl_device_info kDeviceExtensionsWithVersion = 0x1060;
// A longer answer is a driver's mistake, not a list.
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

Status lacks(const char *message) { return Status::error(Code::opencl, message); }

// Fills `functions`, a table of function pointers, from as many names.
bool find(const Device &device, const char *const *names, std::size_t count, void *functions) {
  for (std::size_t i = 0; i < count; ++i) {
    void *address = device.cl->clGetExtensionFunctionAddressForPlatform(device.platform, names[i]);
    if (address == nullptr) return false;
    std::memcpy(static_cast<void **>(functions) + i, &address, sizeof(address));
  }
  return true;
}

// Returns the device's version of the extension; 0 if it does not report one.
cl_version extension_version(const Device &device, const char *extension) {
  std::size_t bytes = 0;
  if (device.cl->clGetDeviceInfo(device.id, kDeviceExtensionsWithVersion, 0, nullptr, &bytes) !=
          CL_SUCCESS ||
      bytes > kMaxBytes) {
    return 0;
  }
  const std::size_t count = bytes / sizeof(cl_name_version);
  const std::unique_ptr<cl_name_version[]> rows(new cl_name_version[count]);
  if (device.cl->clGetDeviceInfo(device.id, kDeviceExtensionsWithVersion,
                                 count * sizeof(cl_name_version), rows.get(),
                                 nullptr) != CL_SUCCESS) {
    return 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (std::strncmp(rows[i].name, extension, sizeof(rows[i].name)) == 0) return rows[i].version;
  }
  return 0;
}

cl_bitfield device_bits(const Device &device, cl_device_info what) {
  cl_bitfield bits = 0;
  const cl_int code = device.cl->clGetDeviceInfo(device.id, what, sizeof(bits), &bits, nullptr);
  return code == CL_SUCCESS ? bits : 0;
}

Status check_command_buffer(const Device &device, cl_command_queue_properties properties) {
  if (!device.capabilities.has_extension(CL_KHR_COMMAND_BUFFER_EXTENSION_NAME)) {
    return lacks("the device has no cl_khr_command_buffer");
  }
  const cl_version version = extension_version(device, CL_KHR_COMMAND_BUFFER_EXTENSION_NAME);
  if (CL_VERSION_MAJOR(version) != 0 || CL_VERSION_MINOR(version) != 9) {
    return lacks("the device's cl_khr_command_buffer is not version 0.9");
  }
  const cl_bitfield required =
      device_bits(device, CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR);
  if ((required & ~properties) == 0) return {};
  return lacks("command buffers need queue properties that this queue has not");
}

Status find_functions(const Device &device, CommandBufferFunctions *out) {
  static const char *const names[] = {"clCreateCommandBufferKHR", "clCommandNDRangeKernelKHR",
                                      "clFinalizeCommandBufferKHR", "clEnqueueCommandBufferKHR",
                                      "clReleaseCommandBufferKHR"};
  static_assert(sizeof(names) == sizeof(*out), "a name for each");
  if (find(device, names, 5, out)) return {};
  return lacks("the driver has no functions of cl_khr_command_buffer");
}

Status find_functions(const Device &device, RecordableFunctions *out) {
  static const char *const names[] = {"clNewRecordingQCOM", "clEndRecordingQCOM",
                                      "clEnqueueRecordingQCOM", "clReleaseRecordingQCOM"};
  static_assert(sizeof(names) == sizeof(*out), "a name for each");
  if (find(device, names, 4, out)) return {};
  return lacks("the driver has no functions of cl_qcom_recordable_queues");
}

// Finds out whether a recording can be changed: sets `update` and `updatable`, or `why_fixed`.
void find_update(const Device &device, Recording *out) {
  constexpr char kName[] = CL_KHR_COMMAND_BUFFER_MUTABLE_DISPATCH_EXTENSION_NAME;
  out->why_fixed = "the device has no cl_khr_command_buffer_mutable_dispatch";
  if (!device.capabilities.has_extension(kName)) return;
  // 0.9.2 passes the changes differently.
  const cl_version version = extension_version(device, kName);
  out->why_fixed =
      "the device's cl_khr_command_buffer_mutable_dispatch is not version 0.9.0 or 0.9.1";
  if (version != CL_MAKE_VERSION(0, 9, 0) && version != CL_MAKE_VERSION(0, 9, 1)) return;
  out->why_fixed = "the device's command buffers cannot change arguments";
  const cl_bitfield fields = device_bits(device, CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR);
  if ((fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR) == 0) return;
  out->updatable =
      fields & (CL_MUTABLE_DISPATCH_ARGUMENTS_KHR | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
                CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR);
  out->why_fixed = "the driver has no clUpdateMutableCommandsKHR";
  out->update = extension_function<UpdateMutableCommands>(*device.cl, device.platform,
                                                          "clUpdateMutableCommandsKHR");
}

// Records the steps, changeable if `out->update` is set.
Status record(const Device &device, const CommandBufferFunctions &call, cl_command_queue queue,
              std::vector<Step> *steps, Recording *out) {
  // With simultaneous use, a run need not wait for the previous one.
  const bool simultaneous = (device_bits(device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR) &
                             CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) != 0;
  const bool changeable = out->update != nullptr;
  const cl_command_buffer_flags_khr flags =
      (simultaneous ? CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR : 0) |
      (changeable ? CL_COMMAND_BUFFER_MUTABLE_KHR : 0);
  const cl_command_buffer_properties_khr list[] = {CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0};
  const cl_properties fields[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, out->updatable, 0};
  const char *name = "clCreateCommandBufferKHR";
  cl_int code = CL_SUCCESS;
  Handle<cl_command_buffer_khr> made(call.create(1, &queue, flags != 0 ? list : nullptr, &code),
                                     call.release);
  for (std::size_t i = 0; made && code == CL_SUCCESS && i < steps->size(); ++i) {
    Step &step = (*steps)[i];
    name = "clCommandNDRangeKernelKHR";
    code =
        call.add(made.get(), nullptr, changeable ? fields : nullptr, step.kernel.get(),
                 step.plan.dimensions, step.plan.global_offset(), step.plan.padded.data(),
                 step.plan.local.data(), 0, nullptr, nullptr, changeable ? &step.command : nullptr);
    if (changeable && code == CL_SUCCESS && step.command == nullptr) return cl_failure(name, code);
  }
  if (made && code == CL_SUCCESS) {
    name = "clFinalizeCommandBufferKHR";
    code = call.finalize(made.get());
  }
  if (!made || code != CL_SUCCESS) return cl_failure(name, code);
  out->kind = KILN_RECORDING_COMMAND_BUFFER;
  out->buffer = std::move(made);
  out->enqueue_buffer = call.enqueue;
  return {};
}

// Appends the changed arguments that are pointers to shared virtual memory, or the others; returns
// how many these are.
cl_uint list_changes(const Step &step, bool svm, cl_mutable_dispatch_arg_khr **end) {
  cl_uint count = 0;
  for (unsigned i = 0; i < step.argument_count; ++i) {
    const StepArgument &now = step.arguments[i];
    if (!now.changed || (now.value.svm != nullptr) != svm) continue;
    *(*end)++ = {i, now.value.size(), now.value.data()};
    ++count;
  }
  return count;
}

std::size_t count_arguments(const std::vector<Step> &steps) {
  std::size_t count = 0;
  for (const Step &step : steps) count += step.argument_count;
  return count;
}

}  // namespace

Status record_command_buffer(const Loader &loader, cl_command_queue queue,
                             cl_command_queue_properties properties, std::vector<Step> *steps,
                             Recording *out) {
  const Device &device = *loader.device;
  CommandBufferFunctions call;
  if (Status e = check_command_buffer(device, properties); !e.ok()) return e;
  if (Status e = find_functions(device, &call); !e.ok()) return e;
  find_update(device, out);
  Status status = record(device, call, queue, steps, out);
  if (status.ok() || out->update == nullptr) return status;
  out->update = nullptr;
  out->why_fixed = "the driver cannot record launches that can be changed";
  return record(device, call, queue, steps, out);
}

Status record_on_recordable_queue(const Loader &loader, const std::vector<Step> &steps,
                                  Recording *out) {
  const Device &device = *loader.device;
  if (!device.capabilities.has_extension("cl_qcom_recordable_queues")) {
    return lacks("the device has no cl_qcom_recordable_queues");
  }
  RecordableFunctions call;
  Queue queue;
  if (Status e = find_functions(device, &call); !e.ok()) return e;
  // The extension accepts only this property.
  Status e = create_queue_as(loader, kQueueRecordableQcom, nullptr, true, &queue);
  if (!e.ok()) return e;
  const char *name = "clNewRecordingQCOM";
  cl_int code = CL_SUCCESS;
  Handle<RecordingQcom> made(call.create(queue.handle.get(), &code), call.release);
  for (std::size_t i = 0; made && code == CL_SUCCESS && i < steps.size(); ++i) {
    const LaunchPlan &plan = steps[i].plan;
    name = "clEnqueueNDRangeKernel on a recordable queue";
    code = device.cl->clEnqueueNDRangeKernel(
        queue.handle.get(), steps[i].kernel.get(), plan.dimensions, plan.global_offset(),
        plan.padded.data(), plan.local.data(), 0, nullptr, nullptr);
  }
  if (made && code == CL_SUCCESS) {
    name = "clEndRecordingQCOM";
    code = call.end(made.get());
  }
  if (!made || code != CL_SUCCESS) return cl_failure(name, code);
  out->kind = KILN_RECORDING_RECORDABLE_QUEUE;
  out->recordable = std::move(queue.handle);
  out->qcom = std::move(made);
  out->enqueue_qcom = call.enqueue;
  return {};
}

void forget_changes(Step *step) {
  for (unsigned i = 0; i < step->argument_count; ++i) step->arguments[i].changed = false;
  step->resized = step->stale = false;
}

bool changes_svm(const std::vector<Step> &steps) {
  for (const Step &step : steps) {
    for (unsigned i = 0; i < step.argument_count; ++i) {
      if (step.arguments[i].changed && step.arguments[i].value.svm != nullptr) return true;
    }
  }
  return false;
}

Status update_command_buffer(const Recording &recording, std::vector<Step> *steps) {
  bool stale = false;
  cl_mutable_dispatch_fields_khr fields = 0;
  for (const Step &step : *steps) {
    stale = stale || step.stale;
    if (step.resized) {
      fields = CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR | CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR;
    }
  }
  if (!stale) return {};
  if (recording.update == nullptr) return Status::error(Code::opencl, recording.why_fixed);
  if ((fields & ~recording.updatable) != 0) {
    return Status::error(Code::opencl, "the device's command buffers cannot change work sizes");
  }
  const std::unique_ptr<cl_mutable_dispatch_arg_khr[]> arguments(
      new cl_mutable_dispatch_arg_khr[count_arguments(*steps)]);
  const std::unique_ptr<MutableDispatchConfig[]> launches(new MutableDispatchConfig[steps->size()]);
  cl_mutable_dispatch_arg_khr *argument = arguments.get();
  cl_uint count = 0;
  for (const Step &step : *steps) {
    if (!step.stale) continue;
    MutableDispatchConfig &launch = launches[count++];
    launch = {};
    launch.type = kMutableDispatchConfig;
    launch.command = step.command;
    launch.arg_list = argument;
    launch.num_args = list_changes(step, false, &argument);
    if (launch.num_args == 0) launch.arg_list = nullptr;
    launch.arg_svm_list = argument;
    launch.num_svm_args = list_changes(step, true, &argument);
    if (launch.num_svm_args == 0) launch.arg_svm_list = nullptr;
    if (!step.resized) continue;
    launch.work_dim = step.plan.dimensions;
    launch.global_work_size = step.plan.padded.data();
    launch.local_work_size = step.plan.local.data();
  }
  const MutableBaseConfig all = {kMutableBaseConfig, nullptr, count, launches.get()};
  const cl_int code = recording.update(recording.buffer.get(), &all);
  if (code != CL_SUCCESS) return cl_failure("clUpdateMutableCommandsKHR", code);
  for (Step &step : *steps) step.stale = false;
  return {};
}

cl_int enqueue_recording(const Recording &recording, cl_command_queue queue,
                         const std::vector<Step> &steps, const Waits &waits, cl_event *event,
                         bool *changed) {
  for (const Step &step : steps) *changed = *changed || step.stale;
  const std::size_t most = *changed ? steps.size() : 0;  // a run without changes allocates nothing
  const std::unique_ptr<ArgumentQcom[]> arguments(
      *changed ? new ArgumentQcom[count_arguments(steps)] : nullptr);
  const std::unique_ptr<WorkSizeQcom[]> sizes(*changed ? new WorkSizeQcom[2 * most] : nullptr);
  WorkSizeQcom *const local = sizes.get() + most;
  std::size_t argument_count = 0;
  std::size_t size_count = 0;
  for (cl_uint launch = 0; launch < most; ++launch) {
    const Step &step = steps[launch];
    for (unsigned i = 0; i < step.argument_count; ++i) {
      const StepArgument &now = step.arguments[i];
      if (!now.changed) continue;
      arguments[argument_count++] = {launch, i, now.value.size(), now.value.data()};
    }
    if (!step.resized) continue;
    sizes[size_count] = {launch, step.plan.padded.data()};
    local[size_count++] = {launch, step.plan.local.data()};
  }
  const bool resized = size_count != 0;
  return recording.enqueue_qcom(queue, recording.qcom.get(), argument_count,
                                argument_count != 0 ? arguments.get() : nullptr, 0, nullptr,
                                size_count, resized ? sizes.get() : nullptr, size_count,
                                resized ? local : nullptr, waits.count, waits.data(), event);
}

}  // namespace kiln::runtime
