// SPDX-License-Identifier: Apache-2.0
// Recording launches through the driver: cl_khr_command_buffer 0.9 (whose five functions below
// are the same in every 0.9 so far) and cl_qcom_recordable_queues.
#pragma once

#include <vector>

#include "runtime/launch/enqueue.hpp"

namespace kiln::runtime {

// A recorded launch: a kernel object of its own, so that its arguments stay as they were.
struct Step {
  std::shared_ptr<const LoadedProgram> program;
  unsigned index = 0;  // of the kernel among the variant's
  Handle<cl_kernel> kernel;
  LaunchPlan plan;
  std::unique_ptr<Handle<cl_mem>[]> memory;  // that the arguments name
};

// cl_qcom_recordable_queues, which Khronos' headers lack.
using RecordingQcom = struct _cl_recording_qcom *;
constexpr cl_command_queue_properties kQueueRecordableQcom = 1u << 30;

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
  cl_int(CL_API_CALL *enqueue)(cl_command_queue, RecordingQcom, std::size_t, const void *,
                               std::size_t, const void *, std::size_t, const void *, std::size_t,
                               const void *, cl_uint, const cl_event *, cl_event *) = nullptr;
  cl_int(CL_API_CALL *release)(RecordingQcom) = nullptr;
};

struct Recording {
  kiln_recording kind = KILN_RECORDING_NONE;
  Handle<cl_command_buffer_khr> buffer;
  clEnqueueCommandBufferKHR_fn enqueue_buffer = nullptr;
  Handle<cl_command_queue> recordable;  // the queue that `qcom` was recorded on
  Handle<RecordingQcom> qcom;
  decltype(RecordableFunctions::enqueue) enqueue_qcom = nullptr;
};

// Records the steps for an in-order queue with those properties. On failure `out` is untouched
// and the error says what the device lacks or the driver refused.
Status record_command_buffer(const Loader &loader, cl_command_queue queue,
                             cl_command_queue_properties properties, const std::vector<Step> &steps,
                             Recording *out);
Status record_on_recordable_queue(const Loader &loader, const std::vector<Step> &steps,
                                  Recording *out);

}  // namespace kiln::runtime
