// SPDX-License-Identifier: Apache-2.0
// Recording launches through the driver: cl_khr_command_buffer 0.9 (whose five functions below
// are the same in every 0.9 so far) and cl_qcom_recordable_queues.
#pragma once

#include <vector>

#include "runtime/launch/enqueue.hpp"

namespace kiln::runtime {

// An argument of a recorded launch.
struct StepArgument {
  std::string bytes;
  Handle<cl_mem> memory;  // that the bytes name, if they name any
  bool changed = false;   // since it was recorded
};

// A recorded launch: a kernel object of its own, so that its arguments stay as they were.
struct Step {
  std::shared_ptr<const LoadedProgram> program;
  unsigned index = 0;  // of the kernel among the variant's
  Handle<cl_kernel> kernel;
  LaunchPlan plan;
  std::unique_ptr<StepArgument[]> arguments;
  unsigned argument_count = 0;
  bool resized = false;                      // since it was recorded
  bool stale = false;                        // changed since the command buffer last heard of it
  cl_mutable_command_khr command = nullptr;  // in the command buffer, if that can be changed
};

// cl_qcom_recordable_queues, which Khronos' headers lack.
using RecordingQcom = struct _cl_recording_qcom *;
constexpr cl_command_queue_properties kQueueRecordableQcom = 1u << 30;
struct ArgumentQcom {
  cl_uint launch;  // from 0, as all launches of a recording are numbered
  cl_uint index;
  std::size_t size;
  const void *value;
};
struct WorkSizeQcom {
  cl_uint launch;
  const std::size_t *sizes;
};

struct CommandBufferFunctions {
  clCreateCommandBufferKHR_fn create = nullptr;
  clCommandNDRangeKernelKHR_fn add = nullptr;
  clFinalizeCommandBufferKHR_fn finalize = nullptr;
  clEnqueueCommandBufferKHR_fn enqueue = nullptr;
  clReleaseCommandBufferKHR_fn release = nullptr;
};

struct RecordableFunctions {
  RecordingQcom(CL_API_CALL *create)(cl_command_queue, cl_int *) = nullptr;
  cl_int(CL_API_CALL *end)(RecordingQcom) = nullptr;
  // Arguments, offsets, global and local sizes to change in this run come as counted arrays.
  cl_int(CL_API_CALL *enqueue)(cl_command_queue, RecordingQcom, std::size_t, const ArgumentQcom *,
                               std::size_t, const void *, std::size_t, const WorkSizeQcom *,
                               std::size_t, const WorkSizeQcom *, cl_uint, const cl_event *,
                               cl_event *) = nullptr;
  cl_int(CL_API_CALL *release)(RecordingQcom) = nullptr;
};

struct Recording {
  kiln_recording kind = KILN_RECORDING_NONE;
  Handle<cl_command_buffer_khr> buffer;
  clEnqueueCommandBufferKHR_fn enqueue_buffer = nullptr;
  clUpdateMutableCommandsKHR_fn update = nullptr;  // null: what is recorded cannot be changed
  const char *why_fixed = nullptr;                 // then why
  cl_mutable_dispatch_fields_khr updatable = 0;    // of each launch
  Handle<cl_command_queue> recordable;             // the queue that `qcom` was recorded on
  Handle<RecordingQcom> qcom;
  decltype(RecordableFunctions::enqueue) enqueue_qcom = nullptr;
};

// Records the steps for an in-order queue with those properties. On failure `out` is untouched
// and the error says what the device lacks or the driver refused.
// Where the device can change a command buffer, `steps` get what it is changed by.
Status record_command_buffer(const Loader &loader, cl_command_queue queue,
                             cl_command_queue_properties properties, std::vector<Step> *steps,
                             Recording *out);
Status record_on_recordable_queue(const Loader &loader, const std::vector<Step> &steps,
                                  Recording *out);

// What was set is what will be recorded.
void forget_changes(Step *step);

// Updates the command buffer where steps are stale. A failure leaves it and them as they were: the
// driver cannot, or cannot while the command buffer is running.
Status update_command_buffer(const Recording &recording, std::vector<Step> *steps);

// Enqueues Qualcomm's recording with all changes since it was recorded, which go for this run
// alone;
// `*changed` says whether there are any.
cl_int enqueue_recording(const Recording &recording, cl_command_queue queue,
                         const std::vector<Step> &steps, const Waits &waits, cl_event *event,
                         bool *changed);

}  // namespace kiln::runtime
