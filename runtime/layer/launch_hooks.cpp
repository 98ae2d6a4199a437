// SPDX-License-Identifier: Apache-2.0
// Functions that set arguments, launch, wait and release, and watch these calls.
#include "runtime/layer/hooks.hpp"

#include <algorithm>
#include <array>

#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/layer/record/record.hpp"
#include "runtime/layer/serve/cached_programs.hpp"
#include "runtime/layer/serve/launch_markers.hpp"
#include "runtime/layer/serve/tuned_kernels.hpp"

namespace kiln::layer {
namespace {

// Registers a new program: the driver may reuse the handle of a released one.
cl_program new_program(cl_program made) {
  if (made != nullptr) launches().set_program(made, "");
  return made;
}

cl_program CL_API_CALL built_in(cl_context context, cl_uint count, const cl_device_id *devices,
                                const char *names, cl_int *code) {
  return new_program(next.clCreateProgramWithBuiltInKernels(context, count, devices, names, code));
}

// Hook for an entry that creates an object.
template <auto Entry, SetArgument::Kind Kind>
struct Creates;
template <typename Object, typename... Arguments,
          Object (CL_API_CALL *cl_icd_dispatch::*Entry)(Arguments...), SetArgument::Kind Kind>
struct Creates<Entry, Kind> {
  static Object CL_API_CALL call(Arguments... arguments) {
    const Object made = (next.*Entry)(arguments...);
    if (made != nullptr) launches().add_object(made, Kind);
    return made;
  }
};

// Hooks for entries that retain and release an object.
template <auto Entry>
struct Counts;
template <typename Object, cl_int (CL_API_CALL *cl_icd_dispatch::*Entry)(Object)>
struct Counts<Entry> {
  static cl_int CL_API_CALL retain(Object object) {
    const cl_int code = (next.*Entry)(object);
    if (code == CL_SUCCESS) launches().retain_object(object);
    return code;
  }
  // Called before the driver, which may then reuse the handle.
  static cl_int CL_API_CALL release(Object object) {
    launches().release_object(object);
    return (next.*Entry)(object);
  }
};

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
  const cl_int code = next.clSetKernelArg(kernel, index, size, value);
  if (code != CL_SUCCESS || launches().is_idle()) return code;
  SetArgument argument{SetArgument::Kind::value, size, {}, value == nullptr};
  if (value != nullptr) argument.bytes.assign(static_cast<const char *>(value), size);
  launches().set_argument(kernel, index, std::move(argument));
  return code;
}

cl_int CL_API_CALL set_shared_memory(cl_kernel kernel, cl_uint index, const void *pointer) {
  const cl_int code = next.clSetKernelArgSVMPointer(kernel, index, pointer);
  if (code == CL_SUCCESS) {
    const std::size_t size = launches().shared_behind(pointer);
    launches().set_argument(kernel, index, {SetArgument::Kind::shared_memory, size, {}, false});
  }
  return code;
}

void *CL_API_CALL allocate_shared(cl_context context, cl_svm_mem_flags flags, size_t size,
                                  cl_uint alignment) {
  void *memory = next.clSVMAlloc(context, flags, size, alignment);
  if (memory != nullptr) launches().add_shared(memory, size);
  return memory;
}

void CL_API_CALL free_shared(cl_context context, void *memory) {
  launches().remove_shared(memory);
  next.clSVMFree(context, memory);
}

void copy_sizes(const size_t *from, cl_uint dimensions, std::size_t (*to)[3]) {
  if (from != nullptr) std::copy_n(from, dimensions, *to);
}

Range range_of(cl_uint dimensions, const size_t *offset, const size_t *global,
               const size_t *local) {
  Range range;
  range.dimensions = dimensions;
  copy_sizes(global, dimensions, &range.global);
  copy_sizes(offset, dimensions, &range.offset);
  if (local != nullptr) std::fill(range.local, range.local + 3, 1);
  copy_sizes(local, dimensions, &range.local);
  return range;
}

// A launch that may be of a new kind.
class Launch {
 public:
  Launch(cl_kernel kernel, const Range &range) : fresh_(launches().see(kernel, range)) {}

  cl_int end(cl_int code) {
    if (!fresh_) return code;
    if (code != CL_SUCCESS) {
      launches().forget(*fresh_);
    } else if (settings().record) {
      record_launch(*fresh_);
    } else {
      note_new_launch(*fresh_);
    }
    return code;
  }

 private:
  std::optional<Launches::Fresh> fresh_;
};

// Passes a measured size to the driver if the application gives none. If the driver refuses that
// size, repeats the call as the application made it, and returns that result.
cl_int enqueue_with_size(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                         const size_t *offset, const size_t *global, const size_t *local,
                         cl_uint wait_count, const cl_event *waits, cl_event *event) {
  std::array<std::size_t, 3> tuned{};
  const bool chooses = local == nullptr && !tuned_kernels().is_idle() && dimensions >= 1 &&
                       dimensions <= 3 && global != nullptr &&
                       tuned_kernels().find(kernel, dimensions, global, &tuned);
  if (chooses) {
    const cl_int code = next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                    tuned.data(), wait_count, waits, event);
    if (code == CL_SUCCESS) return code;
  }
  const cl_int code = next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                  wait_count, waits, event);
  if (chooses && code == CL_SUCCESS) tuned_kernels().forget(kernel);
  return code;
}

cl_int CL_API_CALL enqueue_tuned(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const size_t *offset, const size_t *global, const size_t *local,
                                 cl_uint wait_count, const cl_event *waits, cl_event *event) {
  note_launch();
  return launch_markers().guard(kernel, queue, event, [&] {
    return enqueue_with_size(queue, kernel, dimensions, offset, global, local, wait_count, waits,
                             event);
  });
}

cl_int CL_API_CALL enqueue_range(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const size_t *offset, const size_t *global, const size_t *local,
                                 cl_uint wait_count, const cl_event *waits, cl_event *event) {
  const bool followed =
      !launches().is_idle() && dimensions >= 1 && dimensions <= 3 && global != nullptr;
  if (!followed) {
    return enqueue_tuned(queue, kernel, dimensions, offset, global, local, wait_count, waits,
                         event);
  }
  Launch launch(kernel, range_of(dimensions, offset, global, local));
  return launch.end(
      enqueue_tuned(queue, kernel, dimensions, offset, global, local, wait_count, waits, event));
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                                const cl_event *waits, cl_event *event) {
  const size_t one = 1;
  note_launch();
  Launch launch(kernel, range_of(1, nullptr, &one, &one));
  return launch.end(launch_markers().guard(kernel, queue, event, [&] {
    return next.clEnqueueTask(queue, kernel, wait_count, waits, event);
  }));
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  const std::uint64_t count = launch_markers().count();
  const cl_int code = next.clFinish(queue);
  if (code == CL_SUCCESS) launch_markers().finished(count, queue);
  note_results();
  return code;
}

cl_int CL_API_CALL wait_for_events(cl_uint event_count, const cl_event *events) {
  const std::uint64_t count = launch_markers().count();
  const cl_int code = next.clWaitForEvents(event_count, events);
  if (code == CL_SUCCESS) launch_markers().waited(count, event_count, events);
  note_results();
  return code;
}

bool has_succeeded(cl_int code) { return code == CL_SUCCESS; }
bool has_succeeded(const void *mapped) { return mapped != nullptr; }

// Hook for an entry that reads memory, and waits for that if its third argument says so.
template <auto Entry>
struct Reads;
template <typename Answer, typename... Arguments,
          Answer (CL_API_CALL *cl_icd_dispatch::*Entry)(cl_command_queue, cl_mem, cl_bool,
                                                        Arguments...)>
struct Reads<Entry> {
  static Answer CL_API_CALL call(cl_command_queue queue, cl_mem memory, cl_bool waits,
                                 Arguments... arguments) {
    const std::uint64_t count = launch_markers().count();
    const Answer answer = (next.*Entry)(queue, memory, waits, arguments...);
    if (waits == CL_FALSE) return answer;
    if (has_succeeded(answer)) launch_markers().waited(count, queue);
    note_results();
    return answer;
  }
};

// An entry that the loader lacks stays absent.
#define KILN_CREATES(name, kind)                                                  \
  if (table->name != nullptr) {                                                   \
    table->name = Creates<&cl_icd_dispatch::name, SetArgument::Kind::kind>::call; \
  }

void set_object_hooks(cl_icd_dispatch *table) {
  KILN_CREATES(clCreateBuffer, memory)
  KILN_CREATES(clCreateBufferWithProperties, memory)
  KILN_CREATES(clCreateSubBuffer, memory)
  KILN_CREATES(clCreateImage, memory)
  KILN_CREATES(clCreateImageWithProperties, memory)
  KILN_CREATES(clCreateImage2D, memory)
  KILN_CREATES(clCreateImage3D, memory)
  KILN_CREATES(clCreatePipe, memory)
  KILN_CREATES(clCreateFromGLBuffer, memory)
  KILN_CREATES(clCreateFromGLTexture, memory)
  KILN_CREATES(clCreateFromGLTexture2D, memory)
  KILN_CREATES(clCreateFromGLTexture3D, memory)
  KILN_CREATES(clCreateFromGLRenderbuffer, memory)
  KILN_CREATES(clCreateFromEGLImageKHR, memory)
  KILN_CREATES(clCreateSampler, sampler)
  KILN_CREATES(clCreateSamplerWithProperties, sampler)
  table->clRetainMemObject = Counts<&cl_icd_dispatch::clRetainMemObject>::retain;
  table->clReleaseMemObject = Counts<&cl_icd_dispatch::clReleaseMemObject>::release;
  table->clRetainSampler = Counts<&cl_icd_dispatch::clRetainSampler>::retain;
  table->clReleaseSampler = Counts<&cl_icd_dispatch::clReleaseSampler>::release;
}
#undef KILN_CREATES

#define KILN_READS(name) table->name = Reads<&cl_icd_dispatch::name>::call;

void set_waiting_hooks(cl_icd_dispatch *table) {
  table->clFinish = finish;
  table->clWaitForEvents = wait_for_events;
  KILN_READS(clEnqueueReadBuffer)
  KILN_READS(clEnqueueReadBufferRect)
  KILN_READS(clEnqueueReadImage)
  KILN_READS(clEnqueueMapBuffer)
  KILN_READS(clEnqueueMapImage)
}
#undef KILN_READS

}  // namespace

void set_launch_hooks(cl_icd_dispatch *table) {
  const bool follows = settings().record || !settings().overlay.empty();
  const bool reports = !settings().report.empty();
  const bool tunes = !settings().record && !settings().packs.empty() && settings().tuned;
  if (tunes || reports) table->clEnqueueNDRangeKernel = enqueue_tuned;
  if (reports || !settings().overlay.empty()) set_waiting_hooks(table);
  if (!follows) return;
  set_object_hooks(table);
  table->clCreateProgramWithBuiltInKernels = built_in;
  table->clSetKernelArg = set_argument;
  if (table->clSetKernelArgSVMPointer != nullptr) {
    table->clSetKernelArgSVMPointer = set_shared_memory;
    table->clSVMAlloc = allocate_shared;
    table->clSVMFree = free_shared;
  }
  table->clEnqueueNDRangeKernel = enqueue_range;
  table->clEnqueueTask = enqueue_task;
}

}  // namespace kiln::layer
