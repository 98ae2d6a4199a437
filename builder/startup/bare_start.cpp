// SPDX-License-Identifier: Apache-2.0
// Builds, binds and launches by OpenCL's own calls, on memory that was filled as an application's.
#include "builder/startup/bare_start.hpp"

#include <cstring>

#include "builder/base/clock.hpp"
#include "builder/launch/session.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {
namespace {

// A program with its kernels, in the order of the stages.
struct Built {
  std::vector<cl_kernel> kernels;
};

Status build(const OpenedDevice &child, const StartItem &item, StartFrom from, Built *out) {
  const runtime::OpenCL &cl = *child.device->cl;
  const cl_device_id id = child.device->id;
  const packs::Bytes &bytes = from == StartFrom::source   ? item.source
                              : from == StartFrom::driver ? item.driver
                                                          : item.binary;
  const unsigned char *data = bytes.data();
  const std::size_t size = bytes.size();
  const char *text = reinterpret_cast<const char *>(data);
  cl_int code = CL_SUCCESS;
  cl_program program =
      from == StartFrom::source
          ? cl.clCreateProgramWithSource(child.context.get(), 1, &text, &size, &code)
          : cl.clCreateProgramWithBinary(child.context.get(), 1, &id, &size, &data, nullptr, &code);
  const char *options = from == StartFrom::source ? item.options.c_str() : nullptr;
  if (code == CL_SUCCESS) code = cl.clBuildProgram(program, 1, &id, options, nullptr, nullptr);
  for (const Stage &stage : item.workload.stages) {
    if (code != CL_SUCCESS) break;
    out->kernels.push_back(cl.clCreateKernel(program, stage.kernel.c_str(), &code));
  }
  if (code == CL_SUCCESS) return {};
  return {Code::opencl, item.program + "/" + item.variant + ": the driver refused it"};
}

Status bind(const runtime::OpenCL &cl, const StartMemory &memory, const Built &built) {
  for (std::size_t s = 0; s < built.kernels.size(); ++s) {
    const auto arguments = memory.arguments(s);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const cl_int code = cl.clSetKernelArg(built.kernels[s], static_cast<cl_uint>(i),
                                            arguments[i].size(), arguments[i].data());
      if (code != CL_SUCCESS) return runtime::cl_failure("clSetKernelArg", code);
    }
  }
  return {};
}

Status launch(const runtime::OpenCL &cl, cl_command_queue queue, const StartItem &item,
              const Built &built) {
  for (std::size_t s = 0; s < built.kernels.size(); ++s) {
    const Stage &stage = item.workload.stages[s];
    const auto global = runtime::pad_global_size(stage.global, item.local[s]);
    const cl_int code =
        cl.clEnqueueNDRangeKernel(queue, built.kernels[s], stage.dimensions, nullptr, global.data(),
                                  item.local[s].data(), 0, nullptr, nullptr);
    if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueNDRangeKernel", code);
  }
  const cl_int code = cl.clFinish(queue);
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clFinish", code);
}

constexpr std::uint8_t kFill = 0x40;  // of all memory

// As an application puts its data there. Some drivers allocate and start threads only now.
cl_int fill(const runtime::OpenCL &cl, cl_command_queue queue, const Memory &memory,
            cl_mem object) {
  cl_int code = CL_SUCCESS;
  std::size_t pitch = memory.row_bytes();
  std::size_t slice = 0;
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t region[3] = {memory.columns, memory.rows, 1};
  void *mapped = memory.storage == Storage::buffer
                     ? cl.clEnqueueMapBuffer(queue, object, CL_TRUE, CL_MAP_WRITE, 0,
                                             memory.bytes(), 0, nullptr, nullptr, &code)
                     : cl.clEnqueueMapImage(queue, object, CL_TRUE, CL_MAP_WRITE, origin, region,
                                            &pitch, &slice, 0, nullptr, nullptr, &code);
  if (code != CL_SUCCESS) return code;
  for (std::size_t y = 0; y < memory.rows; ++y) {
    std::memset(static_cast<std::uint8_t *>(mapped) + y * pitch, kFill, memory.row_bytes());
  }
  return cl.clEnqueueUnmapMemObject(queue, object, mapped, 0, nullptr, nullptr);
}

}  // namespace

Status StartMemory::make(const OpenedDevice &child, const StartItem &item) {
  const runtime::OpenCL &cl = *child.device->cl;
  item_ = &item;
  cl_int code = CL_SUCCESS;
  const runtime::Handle<cl_command_queue> queue(
      cl.clCreateCommandQueue(child.context.get(), child.device->id, 0, &code),
      cl.clReleaseCommandQueue);
  for (const Memory &memory : item.workload.memories) {
    if (code != CL_SUCCESS) break;
    cl_mem made = nullptr;
    if (memory.storage == Storage::buffer) {
      made =
          cl.clCreateBuffer(child.context.get(), CL_MEM_READ_WRITE, memory.bytes(), nullptr, &code);
    } else {
      const cl_image_format format = image_format(memory);
      cl_image_desc desc{};
      desc.image_type = CL_MEM_OBJECT_IMAGE2D;
      desc.image_width = memory.columns;
      desc.image_height = memory.rows;
      made =
          cl.clCreateImage(child.context.get(), CL_MEM_READ_WRITE, &format, &desc, nullptr, &code);
    }
    memories_.emplace_back(made, cl.clReleaseMemObject);
    if (code == CL_SUCCESS) code = fill(cl, queue.get(), memory, made);
  }
  if (code == CL_SUCCESS) code = cl.clFinish(queue.get());
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("making memory", code);
}

std::vector<std::vector<std::uint8_t>> StartMemory::arguments(std::size_t stage) const {
  std::vector<std::vector<std::uint8_t>> all;
  for (const Binding &binding : item_->workload.stages[stage].bindings) {
    if (binding.memory == SIZE_MAX) {
      all.push_back(binding.bytes);
      continue;
    }
    const cl_mem object = memories_[binding.memory].get();
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(&object);
    all.emplace_back(bytes, bytes + sizeof(object));
  }
  return all;
}

Status start_bare(const OpenedDevice &child, const std::vector<StartItem> &items, StartFrom from,
                  bool with_launches, StartTimes *out) {
  const runtime::OpenCL &cl = *child.device->cl;
  std::vector<StartMemory> memories(items.size());
  for (std::size_t i = 0; i < items.size() && with_launches; ++i) {
    if (Status s = memories[i].make(child, items[i]); !s.ok()) return s;
  }
  std::vector<Built> built(items.size());
  const auto start = Clock::now();
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = cl.clCreateCommandQueue(child.context.get(), child.device->id, 0, &code);
  if (code != CL_SUCCESS) return runtime::cl_failure("clCreateCommandQueue", code);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (Status s = build(child, items[i], from, &built[i]); !s.ok()) return s;
    if (!with_launches) continue;
    const auto first = Clock::now();
    if (Status s = bind(cl, memories[i], built[i]); !s.ok()) return s;
    if (Status s = launch(cl, queue, items[i], built[i]); !s.ok()) return s;
    out->firsts.push_back(milliseconds_since(first));
  }
  const double all = milliseconds_since(start);
  out->kernels = all;
  for (const double first : out->firsts) out->kernels -= first;
  if (!with_launches) return {};
  out->results = all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto second = Clock::now();
    if (Status s = launch(cl, queue, items[i], built[i]); !s.ok()) return s;
    out->seconds.push_back(milliseconds_since(second));
  }
  return {};
}

}  // namespace kiln::builder
