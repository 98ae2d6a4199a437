// SPDX-License-Identifier: Apache-2.0
// Lists the changes as cl_khr_command_buffer_mutable_dispatch and cl_qcom_recordable_queues want
// them.
#include "runtime/launch/recorded_changes.hpp"

namespace kiln::runtime {
namespace {

std::size_t count_arguments(const std::vector<Step> &steps) {
  std::size_t count = 0;
  for (const Step &step : steps) count += step.argument_count;
  return count;
}

}  // namespace

void forget_changes(Step *step) {
  for (unsigned i = 0; i < step->argument_count; ++i) step->arguments[i].changed = false;
  step->resized = step->stale = false;
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
  const std::unique_ptr<cl_mutable_dispatch_config_khr[]> launches(
      new cl_mutable_dispatch_config_khr[steps->size()]);
  cl_mutable_dispatch_arg_khr *argument = arguments.get();
  cl_uint count = 0;
  for (const Step &step : *steps) {
    if (!step.stale) continue;
    cl_mutable_dispatch_config_khr &launch = launches[count++];
    launch = {};
    launch.type = CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR;
    launch.command = step.command;
    launch.arg_list = argument;
    for (unsigned i = 0; i < step.argument_count; ++i) {
      const StepArgument &now = step.arguments[i];
      if (now.changed) *argument++ = {i, now.bytes.size(), now.bytes.data()};
    }
    launch.num_args = static_cast<cl_uint>(argument - launch.arg_list);
    if (launch.num_args == 0) launch.arg_list = nullptr;
    if (!step.resized) continue;
    launch.work_dim = step.plan.dimensions;
    launch.global_work_size = step.plan.padded.data();
    launch.local_work_size = step.plan.local.data();
  }
  const cl_mutable_base_config_khr all = {CL_STRUCTURE_TYPE_MUTABLE_BASE_CONFIG_KHR, nullptr, count,
                                          launches.get()};
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
      arguments[argument_count++] = {launch, i, now.bytes.size(), now.bytes.data()};
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
