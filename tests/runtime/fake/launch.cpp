// SPDX-License-Identifier: Apache-2.0
// The fake driver's queues, memory, events and launches.
#include "tests/runtime/fake/objects.hpp"

namespace kiln::test {
namespace {

cl_command_queue make_queue(cl_bitfield properties, std::vector<cl_bitfield> hints, cl_int *code) {
  Fake &f = the_fake;
  f.queue_properties = properties;
  f.queue_hints = std::move(hints);
  *code = f.queue_code;
  if (!f.queue_hints.empty() && f.queue_hints_code != CL_SUCCESS) *code = f.queue_hints_code;
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0 &&
      f.queue_unordered_code != CL_SUCCESS) {
    *code = f.queue_unordered_code;
  }
  auto queue = make<cl_command_queue>();
  object(queue).bytes = (properties & 1u << 30) != 0 ? "recordable" : "";
  return queue;
}

cl_command_queue CL_API_CALL create_queue(cl_context, cl_device_id,
                                          cl_command_queue_properties properties, cl_int *code) {
  return make_queue(properties, {}, code);
}

cl_command_queue CL_API_CALL create_queue_with_properties(cl_context, cl_device_id,
                                                          const cl_queue_properties *list,
                                                          cl_int *code) {
  std::vector<cl_bitfield> hints;
  for (const cl_queue_properties *at = list + 2; *at != 0; ++at) hints.push_back(*at);
  return make_queue(list[1], hints, code);
}

template <typename T>
cl_int CL_API_CALL retain(T handle) {
  ++object(handle).references;
  return CL_SUCCESS;
}

cl_mem make_memory(cl_mem_flags flags, std::size_t size, void *host, cl_int *code) {
  the_fake.memory_flags = flags;
  *code = the_fake.memory_code;
  if (!the_fake.memory_object) return nullptr;
  auto memory = make<cl_mem>(nullptr, std::string(size, '\0'));
  object(memory).host = host;
  return memory;
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t size,
                                 void *host, cl_int *code) {
  if ((flags & CL_MEM_EXT_HOST_PTR_QCOM) != 0 && the_fake.memory_object) {
    the_fake.memory_flags = flags;
    *code = the_fake.memory_code;
    return import_fake_host_pointer(context, size, host);
  }
  cl_mem memory = make_memory(flags, size, host, code);
  if (memory != nullptr) object(memory).context = context;
  return memory;
}

cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags,
                                const cl_image_format *format, const cl_image_desc *description,
                                void *host, cl_int *code) {
  the_fake.made_images.push_back({flags, *format, *description});
  cl_mem memory = nullptr;
  if ((flags & CL_MEM_EXT_HOST_PTR_QCOM) != 0 && the_fake.memory_object) {
    *code = the_fake.memory_code;
    memory = import_fake_host_pointer(context, 0, host);
  } else {
    memory =
        make_memory(flags, description->image_width * description->image_height * 4, nullptr, code);
  }
  if (memory == nullptr) return nullptr;
  object(memory).context = context;
  object(memory).width = description->image_width;
  object(memory).height = description->image_height;
  return memory;
}

cl_mem CL_API_CALL create_part(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type,
                               const void *info, cl_int *code) {
  std::memcpy(&the_fake.made_part, info, sizeof(the_fake.made_part));
  return create_buffer(static_cast<cl_context>(object(buffer).context), flags,
                       the_fake.made_part.size, nullptr, code);
}

cl_int CL_API_CALL memory_info(cl_mem memory, cl_mem_info what, std::size_t size, void *out,
                               std::size_t *size_out) {
  const Object &made = object(memory);
  cl_mem_object_type type = made.width == 0 ? CL_MEM_OBJECT_BUFFER : CL_MEM_OBJECT_IMAGE2D;
  if (made.width != 0 && the_fake.memory_type != 0) type = the_fake.memory_type;
  const std::size_t bytes = made.bytes.size();
  void *context = the_fake.memory_context == nullptr ? made.context : the_fake.memory_context;
  switch (what) {
    case CL_MEM_TYPE: return answer(&type, sizeof(type), size, out, size_out);
    case CL_MEM_SIZE: return answer(&bytes, sizeof(bytes), size, out, size_out);
    case CL_MEM_CONTEXT: return answer(&context, sizeof(context), size, out, size_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL image_info(cl_mem memory, cl_image_info what, std::size_t size, void *out,
                              std::size_t *size_out) {
  const cl_image_format format{the_fake.image_order, CL_UNORM_INT8};
  const cl_uint samples = the_fake.image_samples;
  if (what == CL_IMAGE_FORMAT) return answer(&format, sizeof(format), size, out, size_out);
  if (what == CL_IMAGE_NUM_SAMPLES) return answer(&samples, sizeof(samples), size, out, size_out);
  const std::size_t &side = what == CL_IMAGE_WIDTH ? object(memory).width : object(memory).height;
  return answer(&side, sizeof(side), size, out, size_out);
}

// The event of a command, where one is wanted.
void give_event(cl_event *event) {
  static Object unchanging;
  if (event == nullptr) return;
  if (the_fake.static_event) {
    ++unchanging.references;
    *event = reinterpret_cast<cl_event>(&unchanging);
  } else {
    *event = the_fake.event_object ? make<cl_event>() : nullptr;
  }
}

void *map(cl_mem memory, cl_bool blocking, cl_uint waits, cl_event *event, cl_int *code) {
  the_fake.map_blocking = blocking == CL_TRUE;
  the_fake.waited_for = waits;
  if (blocking == CL_TRUE) ++the_fake.waits;
  give_event(event);
  *code = the_fake.map_code;
  if (!the_fake.map_address) return nullptr;
  Object &mapped = object(memory);
  return mapped.host != nullptr ? mapped.host : mapped.bytes.data();
}

void *CL_API_CALL map_buffer(cl_command_queue, cl_mem memory, cl_bool blocking, cl_map_flags,
                             std::size_t, std::size_t, cl_uint waits, const cl_event *,
                             cl_event *event, cl_int *code) {
  return map(memory, blocking, waits, event, code);
}

void *CL_API_CALL map_image(cl_command_queue, cl_mem memory, cl_bool blocking, cl_map_flags,
                            const std::size_t *, const std::size_t *region, std::size_t *pitch,
                            std::size_t *, cl_uint waits, const cl_event *, cl_event *event,
                            cl_int *code) {
  *pitch = region[0] * 4;
  return map(memory, blocking, waits, event, code);
}

cl_int CL_API_CALL unmap(cl_command_queue, cl_mem, void *, cl_uint waits, const cl_event *,
                         cl_event *event) {
  the_fake.waited_for = waits;
  give_event(event);
  return CL_SUCCESS;
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, std::size_t size,
                                const void *value) {
  if (index >= 2) return CL_INVALID_ARG_INDEX;
  if (the_fake.argument_code != CL_SUCCESS && index == the_fake.refused_argument) {
    return the_fake.argument_code;
  }
  object(kernel).arguments[index] = argument_text(size, value);
  return CL_SUCCESS;
}

cl_int CL_API_CALL set_svm(cl_kernel kernel, cl_uint index, const void *pointer) {
  if (index >= 2) return CL_INVALID_ARG_INDEX;
  if (the_fake.argument_code != CL_SUCCESS && index == the_fake.refused_argument) {
    return the_fake.argument_code;
  }
  object(kernel).arguments[index] = svm_text(pointer);
  return CL_SUCCESS;
}

bool non_uniform(cl_uint dimensions, const std::size_t *global, const std::size_t *local) {
  for (cl_uint i = 0; i < dimensions; ++i) {
    if (global[i] % local[i] != 0) return true;
  }
  return false;
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                          const std::size_t *offset, const std::size_t *global,
                          const std::size_t *local, cl_uint waits, const cl_event *,
                          cl_event *event) {
  Fake &f = the_fake;
  if (f.on_launch) f.on_launch();
  f.waited_for = waits;
  f.global.assign(global, global + dimensions);
  f.local.assign(local, local + dimensions);
  f.offset.assign(offset, offset == nullptr ? offset : offset + dimensions);
  if (f.launch_code != CL_SUCCESS) {
    give_event(event);
    return f.launch_code;
  }
  if (f.refuses_non_uniform_work_groups && non_uniform(dimensions, global, local)) {
    return CL_INVALID_WORK_GROUP_SIZE;
  }
  const bool recordable = object(queue).bytes == "recordable";
  if (!f.static_event) {
    const FakeLaunch made{f.global, f.local, object(kernel).arguments, recordable};
    (recordable ? object(queue).launches : f.launches).push_back(made);
  }
  give_event(event);
  return CL_SUCCESS;
}

cl_int CL_API_CALL flush(cl_command_queue) {
  ++the_fake.flushes;
  return CL_SUCCESS;
}

cl_int CL_API_CALL done(cl_command_queue) {
  ++the_fake.waits;
  return CL_SUCCESS;
}

cl_int CL_API_CALL wait(cl_uint, const cl_event *) {
  ++the_fake.waits;
  return CL_SUCCESS;
}

cl_int CL_API_CALL event_info(cl_event, cl_event_info what, std::size_t size, void *out,
                              std::size_t *size_out) {
  if (what != CL_EVENT_CONTEXT) return CL_INVALID_VALUE;
  return answer(&the_fake.memory_context, sizeof(void *), size, out, size_out);
}

}  // namespace

void give_fake_event(cl_event *event) { give_event(event); }

void add_fake_launching(FakeTable *table) {
  const FakeTable mine = {
      KILN_FAKE(clCreateCommandQueue, create_queue),
      KILN_FAKE(clCreateCommandQueueWithProperties, create_queue_with_properties),
      KILN_FAKE(clRetainCommandQueue, retain<cl_command_queue>),
      KILN_FAKE(clReleaseCommandQueue, release<cl_command_queue>),
      KILN_FAKE(clCreateBuffer, create_buffer),
      KILN_FAKE(clCreateImage, create_image),
      KILN_FAKE(clCreateSubBuffer, create_part),
      KILN_FAKE(clGetMemObjectInfo, memory_info),
      KILN_FAKE(clGetImageInfo, image_info),
      KILN_FAKE(clRetainMemObject, retain<cl_mem>),
      KILN_FAKE(clReleaseMemObject, release<cl_mem>),
      KILN_FAKE(clEnqueueMapBuffer, map_buffer),
      KILN_FAKE(clEnqueueMapImage, map_image),
      KILN_FAKE(clEnqueueUnmapMemObject, unmap),
      KILN_FAKE(clSetKernelArg, set_argument),
      KILN_FAKE(clSetKernelArgSVMPointer, set_svm),
      KILN_FAKE(clEnqueueNDRangeKernel, launch),
      KILN_FAKE(clFlush, flush),
      KILN_FAKE(clFinish, done),
      KILN_FAKE(clWaitForEvents, wait),
      KILN_FAKE(clGetEventInfo, event_info),
      KILN_FAKE(clRetainEvent, retain<cl_event>),
      KILN_FAKE(clReleaseEvent, release<cl_event>),
  };
  table->insert(mine.begin(), mine.end());
}

}  // namespace kiln::test
