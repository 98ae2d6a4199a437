// SPDX-License-Identifier: Apache-2.0
// The fake driver's command buffers, Qualcomm's recordable queues, and suggested work-group sizes.
#include "runtime/extensions/recording.hpp"
#include "tests/runtime/fake/objects.hpp"

namespace kiln::test {
namespace {

using runtime::ArgumentQcom;
using runtime::RecordingQcom;
using runtime::WorkSizeQcom;

void run(const Object &recording, cl_uint waits, cl_event *event) {
  the_fake.waited_for = waits;
  for (const FakeLaunch &launch : recording.launches) the_fake.launches.push_back(launch);
  give_fake_event(event);
}

// Stands for launch `place` of a command buffer.
cl_mutable_command_khr command_of(cl_command_buffer_khr buffer, std::size_t place) {
  return reinterpret_cast<cl_mutable_command_khr>(object(buffer).bytes.data() + place);
}

void change(FakeLaunch *launch, cl_uint index, std::size_t size, const void *value) {
  launch->arguments[index] = argument_text(size, value);
  ++the_fake.updated_arguments;
}

cl_command_buffer_khr CL_API_CALL create_buffer(cl_uint, const cl_command_queue *,
                                                const cl_command_buffer_properties_khr *list,
                                                cl_int *code) {
  *code = the_fake.record_code[0];
  auto made = make<cl_command_buffer_khr>();
  const cl_command_buffer_properties_khr flags = list != nullptr ? list[1] : 0;
  if ((flags & CL_COMMAND_BUFFER_MUTABLE_KHR) != 0) {
    object(made).bytes = std::string(64, 'm');  // as many launches can be changed
    if (the_fake.mutable_code != CL_SUCCESS) *code = the_fake.mutable_code;
  }
  return made;
}

cl_int CL_API_CALL add(cl_command_buffer_khr buffer, cl_command_queue, const cl_properties *fields,
                       cl_kernel kernel, cl_uint dimensions, const std::size_t *,
                       const std::size_t *global, const std::size_t *local, cl_uint,
                       const cl_sync_point_khr *, cl_sync_point_khr *,
                       cl_mutable_command_khr *command) {
  const bool wants_change = fields != nullptr;
  if (wants_change != (command != nullptr) || wants_change == object(buffer).bytes.empty() ||
      (wants_change && (fields[0] != CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR ||
                        fields[1] != the_fake.mutable_capabilities))) {
    return CL_INVALID_VALUE;
  }
  if (wants_change) *command = command_of(buffer, object(buffer).launches.size());
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

cl_int CL_API_CALL enqueue_recording(cl_command_queue queue, RecordingQcom recording,
                                     std::size_t argument_count, const ArgumentQcom *arguments,
                                     std::size_t offset_count, const void *offsets,
                                     std::size_t global_count, const WorkSizeQcom *global,
                                     std::size_t local_count, const WorkSizeQcom *local,
                                     cl_uint waits, const cl_event *, cl_event *event) {
  if (object(queue).bytes == "recordable") return CL_INVALID_COMMAND_QUEUE;
  if (the_fake.record_code[3] != CL_SUCCESS) return the_fake.record_code[3];
  const std::size_t changes = argument_count + global_count + local_count;
  if (changes != 0 && the_fake.update_code != CL_SUCCESS) return the_fake.update_code;
  if (offset_count != 0 || offsets != nullptr) return CL_INVALID_VALUE;
  Object changed;  // for this run alone
  changed.launches = object(recording).launches;
  for (std::size_t i = 0; i < argument_count; ++i) {
    const ArgumentQcom &one = arguments[i];
    change(&changed.launches.at(one.launch), one.index, one.size, one.value);
  }
  for (std::size_t i = 0; i < global_count; ++i) {
    std::vector<std::size_t> &sizes = changed.launches.at(global[i].launch).global;
    sizes.assign(global[i].sizes, global[i].sizes + sizes.size());
  }
  for (std::size_t i = 0; i < local_count; ++i) {
    std::vector<std::size_t> &sizes = changed.launches.at(local[i].launch).local;
    sizes.assign(local[i].sizes, local[i].sizes + sizes.size());
  }
  run(changed, waits, event);
  return CL_SUCCESS;
}

cl_int CL_API_CALL update(cl_command_buffer_khr buffer, const runtime::MutableBaseConfig *all) {
  if (the_fake.update_code != CL_SUCCESS) return the_fake.update_code;
  if (all->type != runtime::kMutableBaseConfig || all->next != nullptr) {
    return CL_INVALID_VALUE;
  }
  for (cl_uint i = 0; i < all->num_mutable_dispatch; ++i) {
    const runtime::MutableDispatchConfig &one = all->mutable_dispatch_list[i];
    const auto place = static_cast<std::size_t>(reinterpret_cast<const char *>(one.command) -
                                                object(buffer).bytes.data());
    if (one.type != runtime::kMutableDispatchConfig || one.next != nullptr ||
        place >= object(buffer).launches.size() || one.num_exec_infos != 0 ||
        (one.num_args == 0) != (one.arg_list == nullptr) ||
        (one.num_svm_args == 0) != (one.arg_svm_list == nullptr)) {
      return CL_INVALID_MUTABLE_COMMAND_KHR;
    }
    FakeLaunch &launch = object(buffer).launches[place];
    for (cl_uint j = 0; j < one.num_args; ++j) {
      change(&launch, one.arg_list[j].arg_index, one.arg_list[j].arg_size,
             one.arg_list[j].arg_value);
    }
    for (cl_uint j = 0; j < one.num_svm_args; ++j) {
      launch.arguments[one.arg_svm_list[j].arg_index] = svm_text(one.arg_svm_list[j].arg_value);
      ++the_fake.updated_arguments;
    }
    if (one.global_work_size != nullptr) {
      launch.global.assign(one.global_work_size, one.global_work_size + one.work_dim);
      launch.local.assign(one.local_work_size, one.local_work_size + one.work_dim);
    }
    ++the_fake.updates;
  }
  return CL_SUCCESS;
}

cl_int CL_API_CALL suggest(cl_command_queue, cl_kernel, cl_uint dimensions,
                           const std::size_t *offset, const std::size_t *global,
                           std::size_t *suggested) {
  if (offset == nullptr) return CL_INVALID_GLOBAL_OFFSET;  // as rusticl 25.0
  the_fake.suggest_calls.emplace_back(global, global + dimensions);
  if (the_fake.on_suggest) the_fake.on_suggest();
  std::copy_n(the_fake.suggested.begin(), dimensions, suggested);
  return the_fake.suggest_code;
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
      KILN_FAKE(clUpdateMutableCommandsKHR, update),
      KILN_FAKE(clGetKernelSuggestedLocalWorkSizeKHR, suggest),
  };
  const auto found = functions.find(name);
  return found == functions.end() || !the_fake.recording_functions ? nullptr : found->second;
}

}  // namespace kiln::test
