// SPDX-License-Identifier: Apache-2.0
// An OpenCL driver inside the test: one platform, one device, every answer scripted, every
// object counted. There is one of it; reset_fake() makes it healthy again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/opencl/library.hpp"

namespace kiln::test {

// What becomes of a program made from a binary, from IL or from source.
struct Script {
  cl_int create_code = CL_SUCCESS;
  bool create_object = true;
  cl_int binary_status = CL_SUCCESS;  // binaries only
  cl_int build_code = CL_SUCCESS;
  cl_build_status build_status = CL_BUILD_SUCCESS;
  std::optional<cl_program_binary_type> binary_type;  // nothing: the driver does not say
  std::string log;
  std::size_t log_size = 0;  // not 0: what the driver says that the log's size is
  cl_int kernel_code = CL_SUCCESS;
  bool kernel_object = true;
  cl_int kernel_info_code = CL_SUCCESS;
  cl_uint arguments = 2;
  // What the driver gives as the program's binary; nothing: the bytes it was made from.
  std::optional<std::string> binary;
  std::optional<std::string> built_with;  // the options of the build; nothing when NULL
  unsigned builds = 0;
  std::function<void()> on_build;  // what else happens inside clBuildProgram
  std::function<void()> on_asked;  // and when the program's binary is asked for
};

// An argument's bytes; local memory, which has none, as "local 64".
inline std::string argument_text(std::size_t size, const void *value) {
  if (value == nullptr) return "local " + std::to_string(size);
  return {static_cast<const char *>(value), size};
}

// A pointer to shared virtual memory.
inline std::string svm_text(const void *pointer) {
  return "svm " + std::to_string(reinterpret_cast<std::uintptr_t>(pointer));
}

// A kernel that ran.
struct FakeLaunch {
  std::vector<std::size_t> global;
  std::vector<std::size_t> local;
  std::map<cl_uint, std::string> arguments;
  bool recorded = false;
  bool operator==(const FakeLaunch &) const = default;
};

struct Fake {
  Script binary;
  Script il;
  Script source;
  // The device.
  cl_ulong local_memory = 0;           // 0: it does not say
  cl_device_svm_capabilities svm = 0;  // 0: as a device of OpenCL 1.2, which knows no such answer
  std::string device_name = "Fake device";
  std::string driver_version = "7.1";
  std::string device_version = "OpenCL 3.0 fake";
  std::string extensions;
  std::string il_version = "SPIR-V_1.0 SPIR-V_1.1";
  cl_uint compute_capability = 0;  // 86 for 8.6; 0: the device does not say
  bool compiler = true;
  cl_uint address_bits = 64;
  bool has_il_function = true;
  bool has_khr_il_function = false;
  std::size_t work_group_size = 64;
  bool non_uniform_work_groups = false;
  bool unified_memory = false;
  // Contexts, queues and memory: what they were last made with, and faults. An object is given
  // together with every error.
  std::vector<cl_context_properties> context_properties;
  cl_int context_hints_code = CL_SUCCESS;  // of contexts with more than a platform
  cl_bitfield queue_properties = 0;
  std::vector<cl_bitfield> queue_hints;      // the list without CL_QUEUE_PROPERTIES
  cl_int queue_code = CL_SUCCESS;            // of every queue
  cl_int queue_hints_code = CL_SUCCESS;      // of queues with hints
  cl_int queue_unordered_code = CL_SUCCESS;  // of queues out of order
  cl_mem_flags memory_flags = 0;
  cl_int memory_code = CL_SUCCESS;
  bool memory_object = true;
  // What images say that they are; 0: what they were made as.
  cl_mem_object_type memory_type = 0;
  cl_channel_order image_order = CL_RGBA;
  cl_uint image_samples = 0;
  void *memory_context = nullptr;  // not null: the context that memory and events say they are of
  // What clImportMemoryARM was given, the descriptor of a dma-buf also as a number.
  void *imported = nullptr;
  int imported_descriptor = -1;
  std::size_t imported_size = 0;
  std::vector<cl_import_properties_arm> import_properties;
  cl_int import_code = CL_SUCCESS;
  std::size_t hardware_buffer_size = 4096;  // of each that is imported whole
  // What Khronos's functions for external memory were given, and what they answer.
  std::vector<cl_mem_properties> memory_properties;
  bool properties_functions = true;  // there are clCreateBufferWithProperties and ...Image...
  std::size_t frame_width = 4;       // of images made of hardware buffers alone
  std::size_t frame_height = 2;
  std::vector<std::string> exchanged;  // "acquire", "release" or "marker", in their order
  cl_mem exchanged_memory = nullptr;   // of the last
  cl_int exchange_code = CL_SUCCESS;
  // The images made since the last reset, as the driver was asked for them; the last part of a
  // buffer; in pixels or bits what the device wants of images in buffers; 0: it does not say.
  struct MadeImage {
    cl_mem_flags flags;
    cl_image_format format;
    cl_image_desc description;
  };
  std::vector<MadeImage> made_images;
  cl_buffer_region made_part{};
  cl_uint pitch_alignment = 0;
  cl_uint base_alignment = 0;
  cl_uint part_alignment = 0;
  bool imports_images = false;  // clImportMemoryARM makes an image
  // What stands in the place of a host pointer with CL_MEM_EXT_HOST_PTR_QCOM, and what the device
  // wants of such memory; sizes: 0: the device does not say.
  std::string host_pointer_qcom;
  std::size_t page_size_qcom = 0;
  std::size_t padding_qcom = 0;
  cl_int map_code = CL_SUCCESS;
  bool map_address = true;
  bool map_blocking = false;  // of the last map
  // Launches.
  bool event_object = true;
  bool static_event = false;  // the same event again and again, and nothing is written down
  cl_int launch_code = CL_SUCCESS;
  std::function<void()> on_launch;  // what else happens inside clEnqueueNDRangeKernel
  bool refuses_non_uniform_work_groups = false;
  std::vector<FakeLaunch> launches;
  std::size_t waited_for = 0;  // length of the last wait list
  std::size_t flushes = 0;
  std::size_t waits = 0;            // calls that block
  std::vector<std::size_t> global;  // of the last launch
  std::vector<std::size_t> local;
  std::vector<std::size_t> offset;  // empty: none was given
  // Suggested work-group sizes: the answer, and the ranges that it was asked for.
  std::vector<std::size_t> suggested = {4, 1, 1};
  cl_int suggest_code = CL_SUCCESS;
  std::function<void()> on_suggest;  // what else happens inside the call
  std::vector<std::vector<std::size_t>> suggest_calls;
  // Recording; the codes are those of the call that begins, adds, ends and runs.
  cl_name_version command_buffer = {CL_MAKE_VERSION(0, 9, 0), "cl_khr_command_buffer"};
  cl_bitfield command_buffer_capabilities = 0;
  cl_bitfield command_buffer_queue = 0;
  bool recording_functions = true;
  cl_int record_code[4] = {CL_SUCCESS, CL_SUCCESS, CL_SUCCESS, CL_SUCCESS};
  cl_name_version mutable_dispatch = {CL_MAKE_VERSION(0, 9, 0),
                                      "cl_khr_command_buffer_mutable_dispatch"};
  cl_bitfield mutable_capabilities = CL_MUTABLE_DISPATCH_ARGUMENTS_KHR |
                                     CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
                                     CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR;
  cl_int mutable_code = CL_SUCCESS;  // of recording what can be changed
  cl_int update_code = CL_SUCCESS;
  std::size_t updates = 0;            // launches and arguments that were changed,
  std::size_t updated_arguments = 0;  // since both were set to 0
  cl_int argument_code = CL_SUCCESS;  // of clSetKernelArg, for the argument
  cl_uint refused_argument = 1;       // of this index
  // The driver's compiler, performance, clocks, events.
  std::size_t unloads = 0;
  cl_int unload_code = CL_SUCCESS;
  std::function<void()> on_unload;
  cl_uint performance = 0;  // what clSetPerfHintQCOM was last given
  cl_int performance_code = CL_SUCCESS;
  cl_ulong timer_resolution = 1;
  cl_int timer_code = CL_SUCCESS;
  std::vector<cl_ulong> profiling = {1, 2, 3, 4, 5};  // queued, submit, start, end, complete
  cl_int callback_code = CL_SUCCESS;
  cl_int callback_status = CL_COMPLETE;  // how the command ends
  // Objects that were made and not given back.
  long live = 0;
};

Fake &fake();
void reset_fake();

// A table of the driver's entry points as the script has them now.
std::shared_ptr<const runtime::OpenCL> fake_table();

}  // namespace kiln::test
