// SPDX-License-Identifier: Apache-2.0
// The fake driver's command buffers and Qualcomm's recordable queues.
#include "runtime/launch/recording.hpp"
#include "tests/runtime/fake/objects.hpp"

namespace kiln::test {
namespace {

using runtime::RecordingQcom;

void run(const Object &recording, cl_uint waits, cl_event *event) {
  the_fake.waited_for = waits;
  for (const FakeLaunch &launch : recording.launches) the_fake.launches.push_back(launch);
  give_fake_event(event);
}

cl_command_buffer_khr CL_API_CALL create_buffer(cl_uint, const cl_command_queue *,
                                                const cl_command_buffer_properties_khr *list,
                                                cl_int *code) {
  *code = the_fake.record_code[0];
  auto made = make<cl_command_buffer_khr>();
  object(made).bytes = list != nullptr ? "simultaneous" : "";
  return made;
}

cl_int CL_API_CALL add(cl_command_buffer_khr buffer, cl_command_queue,
                       const cl_ndrange_kernel_command_properties_khr *, cl_kernel kernel,
                       cl_uint dimensions, const std::size_t *, const std::size_t *global,
                       const std::size_t *local, cl_uint, const cl_sync_point_khr *,
                       cl_sync_point_khr *, cl_mutable_command_khr *) {
  object(buffer).launches.push_back(
      {{global, global + dimensions}, {local, local + dimensions}, object(kernel).arguments, true});
  return the_fake.record_code[1];
}

cl_int CL_API_CALL finalize(cl_command_buffer_khr) { return the_fake.record_code[2]; }

cl_int CL_API_CALL enqueue_buffer(cl_uint, cl_command_queue *, cl_command_buffer_khr buffer,
                                  cl_uint waits, const cl_event *, cl_event *event) {
  if (the_fake.record_code[3] == CL_SUCCESS) run(object(buffer), waits, event);
  return the_fake.record_code[3];
}

RecordingQcom CL_API_CALL create_recording(cl_command_queue queue, cl_int *code) {
  *code = object(queue).bytes == "recordable" ? the_fake.record_code[0] : CL_INVALID_COMMAND_QUEUE;
  auto made = make<RecordingQcom>();
  object(made).context = queue;
  return made;
}

cl_int CL_API_CALL end_recording(RecordingQcom recording) {
  Object &queue = object(static_cast<cl_command_queue>(object(recording).context));
  object(recording).launches.swap(queue.launches);
  return the_fake.record_code[2];
}

cl_int CL_API_CALL enqueue_recording(cl_command_queue queue, RecordingQcom recording, std::size_t,
                                     const void *, std::size_t, const void *, std::size_t,
                                     const void *, std::size_t, const void *, cl_uint waits,
                                     const cl_event *, cl_event *event) {
  if (object(queue).bytes == "recordable") return CL_INVALID_COMMAND_QUEUE;
  if (the_fake.record_code[3] == CL_SUCCESS) run(object(recording), waits, event);
  return the_fake.record_code[3];
}

}  // namespace

void *fake_recording_function(const char *name) {
  static const FakeTable functions = {
      KILN_FAKE(clCreateCommandBufferKHR, create_buffer),
      KILN_FAKE(clCommandNDRangeKernelKHR, add),
      KILN_FAKE(clFinalizeCommandBufferKHR, finalize),
      KILN_FAKE(clEnqueueCommandBufferKHR, enqueue_buffer),
      KILN_FAKE(clReleaseCommandBufferKHR, release<cl_command_buffer_khr>),
      KILN_FAKE(clNewRecordingQCOM, create_recording),
      KILN_FAKE(clEndRecordingQCOM, end_recording),
      KILN_FAKE(clEnqueueRecordingQCOM, enqueue_recording),
      KILN_FAKE(clReleaseRecordingQCOM, release<RecordingQcom>),
  };
  const auto found = functions.find(name);
  return found == functions.end() || !the_fake.recording_functions ? nullptr : found->second;
}

}  // namespace kiln::test
