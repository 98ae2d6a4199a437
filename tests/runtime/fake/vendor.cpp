// SPDX-License-Identifier: Apache-2.0
// The fake driver's imported memory, its compiler, performance, clocks and time stamps.
#include "runtime/extensions/imported_memory.hpp"
#include "tests/runtime/fake/objects.hpp"

namespace kiln::test {
namespace {

cl_mem make_imported(cl_context context, std::size_t size, void *memory) {
  auto made = make<cl_mem>(nullptr, std::string(size, '\0'));
  object(made).context = context;
  object(made).host = memory;
  return made;
}

cl_mem CL_API_CALL import_memory(cl_context context, cl_mem_flags flags,
                                 const cl_import_properties_arm *properties, void *memory,
                                 std::size_t size, cl_int *code) {
  Fake &f = the_fake;
  f.memory_flags = flags;
  f.imported = memory;
  f.imported_size = size;
  f.import_properties.clear();
  for (; *properties != 0; properties += 2) {
    f.import_properties.insert(f.import_properties.end(), properties, properties + 2);
  }
  if (f.import_properties.at(1) == CL_IMPORT_TYPE_DMA_BUF_ARM) {
    f.imported_descriptor = *static_cast<const int *>(memory);
    f.imported = nullptr;
  }
  *code = f.import_code;
  if (!f.memory_object) return nullptr;
  const bool whole = size == CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM;
  cl_mem made = make_imported(context, whole ? f.hardware_buffer_size : size, f.imported);
  if (f.imports_images) object(made).width = f.frame_width;
  return made;
}

// Of the external handle in `properties`; `size` is 0 for what the handle itself tells.
cl_mem make_external(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                     std::size_t size, cl_int *code) {
  Fake &f = the_fake;
  f.memory_flags = flags;
  f.memory_properties.clear();
  while (*properties != 0) f.memory_properties.push_back(*properties++);
  *code = f.memory_code;
  if (!f.memory_object) return nullptr;
  return make_imported(context, size == 0 ? f.hardware_buffer_size : size, nullptr);
}

cl_mem CL_API_CALL external_buffer(cl_context context, const cl_mem_properties *properties,
                                   cl_mem_flags flags, std::size_t size, void *, cl_int *code) {
  return make_external(context, properties, flags, size, code);
}

// As the extension wants it, neither format nor description are given.
cl_mem CL_API_CALL external_image(cl_context context, const cl_mem_properties *properties,
                                  cl_mem_flags flags, const cl_image_format *format,
                                  const cl_image_desc *description, void *, cl_int *code) {
  if (format != nullptr || description != nullptr) {
    *code = format != nullptr ? CL_INVALID_IMAGE_FORMAT_DESCRIPTOR : CL_INVALID_IMAGE_DESCRIPTOR;
    return nullptr;
  }
  cl_mem made = make_external(context, properties, flags, 0, code);
  if (made != nullptr) {
    object(made).width = the_fake.frame_width;
    object(made).height = the_fake.frame_height;
  }
  return made;
}

cl_int exchange(const char *how, cl_mem memory, cl_uint waits, cl_event *event) {
  the_fake.exchanged.emplace_back(how);
  the_fake.exchanged_memory = memory;
  the_fake.waited_for = waits;
  give_fake_event(event);
  return the_fake.exchange_code;
}

cl_int CL_API_CALL acquire_external(cl_command_queue, cl_uint, const cl_mem *memory, cl_uint waits,
                                    const cl_event *, cl_event *event) {
  return exchange("acquire", *memory, waits, event);
}

cl_int CL_API_CALL release_external(cl_command_queue, cl_uint, const cl_mem *memory, cl_uint waits,
                                    const cl_event *, cl_event *event) {
  return exchange("release", *memory, waits, event);
}

cl_int CL_API_CALL marker(cl_command_queue, cl_uint waits, const cl_event *, cl_event *event) {
  return exchange("marker", nullptr, waits, event);
}

cl_int CL_API_CALL set_performance(cl_context, cl_uint level) {
  the_fake.performance = level;
  return the_fake.performance_code;
}

cl_int CL_API_CALL unload(cl_platform_id) {
  ++the_fake.unloads;
  if (the_fake.on_unload) the_fake.on_unload();
  return the_fake.unload_code;
}

cl_int CL_API_CALL timers(cl_device_id, cl_ulong *at_device, cl_ulong *at_host) {
  *at_device = 1000;
  *at_host = 2000;
  return the_fake.timer_code;
}

cl_int CL_API_CALL profiling_info(cl_event, cl_profiling_info what, std::size_t size, void *out,
                                  std::size_t *size_out) {
  const std::size_t place = what - CL_PROFILING_COMMAND_QUEUED;
  if (place >= the_fake.profiling.size()) return CL_INVALID_VALUE;
  return answer(&the_fake.profiling[place], sizeof(cl_ulong), size, out, size_out);
}

cl_int CL_API_CALL set_callback(cl_event event, cl_int,
                                void(CL_CALLBACK *function)(cl_event, cl_int, void *), void *user) {
  if (the_fake.callback_code != CL_SUCCESS) return the_fake.callback_code;
  function(event, the_fake.callback_status, user);  // all commands of this driver have ended
  return CL_SUCCESS;
}

}  // namespace

cl_mem import_fake_host_pointer(cl_context context, std::size_t size, const void *host) {
  const auto *head = static_cast<const cl_mem_ext_host_ptr *>(host);
  const std::size_t bytes = head->allocation_type == runtime::kDmaBufQcom
                                ? sizeof(runtime::DmaBufHostPtrQcom)
                                : sizeof(runtime::HardwareBufferHostPtrQcom);
  the_fake.host_pointer_qcom.assign(static_cast<const char *>(host), bytes);
  return make_imported(context, size, nullptr);
}

void add_fake_vendor(FakeTable *table) {
  const FakeTable mine = {
      KILN_FAKE(clUnloadPlatformCompiler, unload),
      KILN_FAKE(clGetDeviceAndHostTimer, timers),
      KILN_FAKE(clGetEventProfilingInfo, profiling_info),
      KILN_FAKE(clSetEventCallback, set_callback),
      KILN_FAKE(clCreateBufferWithProperties, external_buffer),
      KILN_FAKE(clCreateImageWithProperties, external_image),
      KILN_FAKE(clEnqueueMarkerWithWaitList, marker),
  };
  table->insert(mine.begin(), mine.end());
}

void *fake_vendor_function(const char *name) {
  static const FakeTable functions = {
      KILN_FAKE(clImportMemoryARM, import_memory),
      KILN_FAKE(clEnqueueAcquireExternalMemObjectsKHR, acquire_external),
      KILN_FAKE(clEnqueueReleaseExternalMemObjectsKHR, release_external),
      KILN_FAKE(clSetPerfHintQCOM, set_performance),
  };
  const auto found = functions.find(name);
  return found == functions.end() || !the_fake.recording_functions ? nullptr : found->second;
}

}  // namespace kiln::test
