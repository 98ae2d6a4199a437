// SPDX-License-Identifier: Apache-2.0
#include "builder/finish/launch_recorded.hpp"

#include <array>

#include <fmt/format.h>

#include "builder/base/clock.hpp"
#include "runtime/opencl/error.hpp"
#include "runtime/opencl/handle.hpp"

namespace kiln::builder {
namespace {

using runtime::Device;
using runtime::Handle;
using Kind = RecordedArgument::Kind;

constexpr std::uint64_t kMostMemory = 1ull << 30;

Status failure(const char *call, cl_int code) { return runtime::cl_failure(call, code); }

// One launch, ready to be enqueued.
class Repeat {
 public:
  Repeat(const Device &device, cl_context context, cl_command_queue queue)
      : cl_(*device.cl), context_(context), queue_(queue) {}

  Status prepare(cl_program program, const RecordedLaunch &launch) {
    cl_int code = CL_SUCCESS;
    kernel_ = {cl_.clCreateKernel(program, launch.kernel.c_str(), &code), cl_.clReleaseKernel};
    if (code != CL_SUCCESS) return failure("clCreateKernel", code);
    for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
      if (Status s = set(i, launch.arguments[i]); !s.ok()) return s;
    }
    return {};
  }

  // To its end.
  Status launch(const RecordedLaunch &how, double *milliseconds) {
    const bool sized = how.local[0] != 0;
    const auto start = Clock::now();
    cl_int code = cl_.clEnqueueNDRangeKernel(
        queue_, kernel_.get(), how.dimensions, how.offset.data(), how.global.data(),
        sized ? how.local.data() : nullptr, 0, nullptr, nullptr);
    if (code != CL_SUCCESS) return failure("clEnqueueNDRangeKernel", code);
    code = cl_.clFinish(queue_);
    *milliseconds = milliseconds_since(start);
    return code == CL_SUCCESS ? Status() : failure("clFinish", code);
  }

 private:
  Status set(cl_uint index, const RecordedArgument &argument) {
    switch (argument.kind) {
      case Kind::value: return set(index, argument.value.size(), argument.value.data());
      case Kind::local: return set(index, argument.size, nullptr);
      case Kind::buffer:
        return argument.size == 0 ? set(index, sizeof(cl_mem), nullptr)
                                  : set_buffer(index, argument);
      case Kind::image: return set_image(index, argument.image);
      default: break;
    }
    return {Code::requirement,
            fmt::format("argument {} of a launch was not recorded: {}", index, argument.what)};
  }

  Status set(cl_uint index, std::size_t size, const void *value) {
    const cl_int code = cl_.clSetKernelArg(kernel_.get(), index, size, value);
    return code == CL_SUCCESS ? Status() : failure("clSetKernelArg", code);
  }

  Status set_memory(cl_uint index, cl_mem made) {
    memories_.emplace_back(made, cl_.clReleaseMemObject);
    return set(index, sizeof(made), &made);
  }

  Status take_room(std::uint64_t bytes) {
    if (bytes > kMostMemory - taken_) return {Code::over_limit, "a launch takes over 1 GiB"};
    taken_ += bytes;
    return {};
  }

  Status set_buffer(cl_uint index, const RecordedArgument &argument) {
    if (Status s = take_room(argument.size); !s.ok()) return s;
    std::vector<std::uint8_t> zeros(argument.size);
    cl_int code = CL_SUCCESS;
    const cl_mem made = cl_.clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                           zeros.size(), zeros.data(), &code);
    return code == CL_SUCCESS ? set_memory(index, made) : failure("clCreateBuffer", code);
  }

  // The driver's memory, whatever it holds: an image's bytes are no addresses.
  Status set_image(cl_uint index, const RecordedImage &image) {
    constexpr std::uint64_t kLargestPixel = 16;
    std::uint64_t bytes = kLargestPixel;
    for (const std::uint64_t side : {image.width, image.height, image.depth, image.layers}) {
      if (side > kMostMemory / bytes) bytes = kMostMemory + 1;
      if (side != 0 && bytes <= kMostMemory) bytes *= side;
    }
    if (Status s = take_room(bytes); !s.ok()) return s;
    const cl_image_format format{image.order, image.data_type};
    cl_image_desc desc{};
    desc.image_type = image.type;
    desc.image_width = image.width;
    desc.image_height = image.height;
    desc.image_depth = image.depth;
    desc.image_array_size = image.layers;
    cl_int code = CL_SUCCESS;
    const cl_mem made =
        cl_.clCreateImage(context_, CL_MEM_READ_WRITE, &format, &desc, nullptr, &code);
    return code == CL_SUCCESS ? set_memory(index, made) : failure("clCreateImage", code);
  }

  const runtime::OpenCL &cl_;
  cl_context context_;
  cl_command_queue queue_;
  Handle<cl_kernel> kernel_;
  std::vector<Handle<cl_mem>> memories_;
  std::uint64_t taken_ = 0;
};

// Whether what a queue is given happens: a device without hardware may report success.
Status ask_executes(const Device &device, cl_context context, cl_command_queue queue, bool *out) {
  const runtime::OpenCL &cl = *device.cl;
  std::array<std::uint32_t, 16> before{};
  const std::uint32_t pattern = 0x5a5a5a5a;
  cl_int code = CL_SUCCESS;
  if (cl.clEnqueueFillBuffer == nullptr) return {Code::requirement, "there is no fill command"};
  const Handle<cl_mem> buffer(cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                sizeof(before), before.data(), &code),
                              cl.clReleaseMemObject);
  if (code != CL_SUCCESS) return failure("clCreateBuffer", code);
  code = cl.clEnqueueFillBuffer(queue, buffer.get(), &pattern, sizeof(pattern), 0, sizeof(before),
                                0, nullptr, nullptr);
  if (code != CL_SUCCESS) return failure("clEnqueueFillBuffer", code);
  const auto *after = static_cast<const std::uint32_t *>(cl.clEnqueueMapBuffer(
      queue, buffer.get(), CL_TRUE, CL_MAP_READ, 0, sizeof(before), 0, nullptr, nullptr, &code));
  if (code != CL_SUCCESS) return failure("clEnqueueMapBuffer", code);
  *out = after[0] == pattern;
  return {};
}

Status repeat(const Device &device, cl_context context, cl_command_queue queue, cl_program program,
              const RecordedLaunch &launch, FirstLaunch *worst) {
  Repeat again(device, context, queue);
  FirstLaunch seen;
  Status status = again.prepare(program, launch);
  if (status.ok()) status = again.launch(launch, &seen.first);
  if (status.ok()) status = again.launch(launch, &seen.second);
  if (!status.ok()) {
    status.message = launch.kernel + ": " + status.message;
    return status;
  }
  const bool worse =
      seen.compiles() == worst->compiles() ? seen.remnant() > worst->remnant() : seen.compiles();
  if (worse) *worst = seen;
  return {};
}

}  // namespace

Status launch_recorded(const Device &device, cl_program program,
                       const std::vector<RecordedLaunch> &launches, FirstLaunch *out) {
  const runtime::OpenCL &cl = *device.cl;
  cl_context context = nullptr;
  cl_int code =
      cl.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(context), &context, nullptr);
  if (code != CL_SUCCESS) return failure("clGetProgramInfo", code);
  const Handle<cl_command_queue> queue(cl.clCreateCommandQueue(context, device.id, 0, &code),
                                       cl.clReleaseCommandQueue);
  if (code != CL_SUCCESS) return failure("clCreateCommandQueue", code);
  FirstLaunch worst;
  for (const RecordedLaunch &launch : launches) {
    Status s = repeat(device, context, queue.get(), program, launch, &worst);
    if (!s.ok()) return s;
  }
  if (Status s = ask_executes(device, context, queue.get(), &worst.executes); !s.ok()) return s;
  *out = worst;
  return {};
}

}  // namespace kiln::builder
