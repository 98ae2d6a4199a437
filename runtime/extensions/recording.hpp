// SPDX-License-Identifier: Apache-2.0
// Recording launches through the driver: cl_khr_command_buffer 0.9 (its five functions below have
// been the same in every 0.9 so far) and cl_qcom_recordable_queues.
#pragma once

#include <memory>
#include <vector>

#include "kiln/sequence.h"
#include "runtime/launch/enqueue.hpp"

namespace kiln::runtime {

// An argument of a recorded launch.
struct StepArgument {
  ArgumentValue value;
  Handle<cl_mem> memory;  // the object that the value names, if any
  bool changed = false;   // since it was recorded
};

// A recorded launch. It has its own kernel object, so that its arguments stay unchanged.
struct Step {
  std::shared_ptr<const LoadedProgram> program;
  unsigned index = 0;  // of the kernel in the variant
  Handle<cl_kernel> kernel;
  LaunchPlan plan;
  std::unique_ptr<StepArgument[]> arguments;
  unsigned argument_count = 0;
  bool resized = false;                      // since it was recorded
  bool stale = false;                        // changed since the command buffer was last updated
  cl_mutable_command_khr command = nullptr;  // in the command buffer, if changeable
};

// cl_qcom_recordable_queues, which Khronos' headers lack.
using RecordingQcom = struct _cl_recording_qcom *;
constexpr cl_command_queue_properties kQueueRecordableQcom = 1u << 30;
struct ArgumentQcom {
  cl_uint launch;  // from 0, in the order of the recording
  cl_uint index;
  std::size_t size;
  const void *value;
};
struct WorkSizeQcom {
  cl_uint launch;
  const std::size_t *sizes;
};

// clUpdateMutableCommandsKHR as cl_khr_command_buffer_mutable_dispatch 0.9.0 and 0.9.1 have it,
// with its structs: Khronos' headers have only those of the latest version, which differ.
struct MutableDispatchConfig {
  cl_uint type;
  const void *next;
  cl_mutable_command_khr command;
  cl_uint num_args;
  cl_uint num_svm_args;
  cl_uint num_exec_infos;
  cl_uint work_dim;
  const cl_mutable_dispatch_arg_khr *arg_list;
  const cl_mutable_dispatch_arg_khr *arg_svm_list;
  const void *exec_info_list;
  const std::size_t *global_work_offset;
  const std::size_t *global_work_size;
  const std::size_t *local_work_size;
};
struct MutableBaseConfig {
  cl_uint type;
  const void *next;
  cl_uint num_mutable_dispatch;
  const MutableDispatchConfig *mutable_dispatch_list;
};
constexpr cl_uint kMutableBaseConfig = 0;
constexpr cl_uint kMutableDispatchConfig = 1;
using UpdateMutableCommands = cl_int(CL_API_CALL *)(cl_command_buffer_khr,
                                                    const MutableBaseConfig *);

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
  // Takes arguments, offsets, global and local sizes to change in this run, as counted arrays.
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
  UpdateMutableCommands update = nullptr;        // null: the recording cannot be changed
  const char *why_fixed = nullptr;               // the reason, if `update` is null
  cl_mutable_dispatch_fields_khr updatable = 0;  // fields of each launch
  Handle<cl_command_queue> recordable;           // the queue on which `qcom` was recorded
  Handle<RecordingQcom> qcom;
  decltype(RecordableFunctions::enqueue) enqueue_qcom = nullptr;
};

// Records the steps for an in-order queue with these properties. On failure `out` is untouched and
// the error says what the device lacks or the driver refused. If the device can change a command
// buffer, sets the commands in `steps` that later updates name.
Status record_command_buffer(const Loader &loader, cl_command_queue queue,
                             cl_command_queue_properties properties, std::vector<Step> *steps,
                             Recording *out);
Status record_on_recordable_queue(const Loader &loader, const std::vector<Step> &steps,
                                  Recording *out);

// Marks the step as unchanged, since its current values are about to be recorded.
void forget_changes(Step *step);

// Returns whether pointers to shared virtual memory were changed since they were recorded.
bool changes_svm(const std::vector<Step> &steps);

// Updates the command buffer if any steps are stale. On failure, the buffer and the steps stay as
// they were: the driver cannot update it, or not while the command buffer is running.
Status update_command_buffer(const Recording &recording, std::vector<Step> *steps);

// Enqueues Qualcomm's recording with all changes since it was recorded, but for those of
// changes_svm(), which it cannot make; the changes apply only to this run. Sets `*changed` to
// whether there are any.
cl_int enqueue_recording(const Recording &recording, cl_command_queue queue,
                         const std::vector<Step> &steps, const Waits &waits, cl_event *event,
                         bool *changed);

}  // namespace kiln::runtime
