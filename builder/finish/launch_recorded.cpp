// SPDX-License-Identifier: Apache-2.0
// Makes memory and arguments for each recorded launch, and compares the times of its repetitions.
#include "builder/finish/launch_recorded.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

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
    // What a driver does when memory is first used is no part of the first launch.
    code = cl_.clFinish(queue_);
    return code == CL_SUCCESS ? Status() : failure("clFinish", code);
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
    cl_int code = CL_SUCCESS;
    const cl_mem made =
        cl_.clCreateBuffer(context_, CL_MEM_READ_WRITE, argument.size, nullptr, &code);
    if (code != CL_SUCCESS) return failure("clCreateBuffer", code);
    const std::uint8_t zero = 0;
    code = cl_.clEnqueueFillBuffer(queue_, made, &zero, sizeof(zero), 0, argument.size, 0, nullptr,
                                   nullptr);
    Status status = set_memory(index, made);
    return code == CL_SUCCESS ? status : failure("clEnqueueFillBuffer", code);
  }

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
    if (code != CL_SUCCESS) return failure("clCreateImage", code);
    Status status = set_memory(index, made);
    return status.ok() ? clear(made, image) : status;
  }

  Status clear(cl_mem memory, const RecordedImage &image) {
    const std::size_t origin[3] = {0, 0, 0};
    std::size_t region[3] = {image.width, std::max<std::size_t>(image.height, 1),
                             std::max<std::size_t>(image.depth, 1)};
    if (image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY) region[1] = image.layers;
    if (image.type == CL_MEM_OBJECT_IMAGE2D_ARRAY) region[2] = image.layers;
    std::size_t row = 0;
    std::size_t slice = 0;
    cl_int code = CL_SUCCESS;
    void *bytes = cl_.clEnqueueMapImage(queue_, memory, CL_TRUE, CL_MAP_WRITE, origin, region, &row,
                                        &slice, 0, nullptr, nullptr, &code);
    if (code != CL_SUCCESS) return failure("clEnqueueMapImage", code);
    std::size_t pixel = 0;
    cl_.clGetImageInfo(memory, CL_IMAGE_ELEMENT_SIZE, sizeof(pixel), &pixel, nullptr);
    const bool in_slices = image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    for (std::size_t z = 0; z < region[2]; ++z) {
      for (std::size_t y = 0; y < region[1]; ++y) {
        const std::size_t at = z * slice + y * (in_slices ? slice : row);
        std::memset(static_cast<std::uint8_t *>(bytes) + at, 0, pixel * region[0]);
      }
    }
    code = cl_.clEnqueueUnmapMemObject(queue_, memory, bytes, 0, nullptr, nullptr);
    return code == CL_SUCCESS ? Status() : failure("clEnqueueUnmapMemObject", code);
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

// A range of an application's own may run long, and so hide what is compiled before it: then what
// tells is how far the first launch is from the next two, and these from one another.
bool compiles(double first, double second, double third) {
  constexpr double kLong = 20;
  const FirstLaunch rule{first, second};
  const double noise = std::abs(second - third);
  return rule.compiles() || (rule.remnant() > kLong && rule.remnant() > 5 * noise);
}

Status repeat(const Device &device, cl_context context, cl_command_queue queue, cl_program program,
              const RecordedLaunch &launch, FirstLaunch *worst) {
  Repeat again(device, context, queue);
  FirstLaunch seen;
  Status status = again.prepare(program, launch);
  if (status.ok()) status = again.launch(launch, &seen.first);
  double third = 0;
  if (status.ok()) status = again.launch(launch, &seen.second);
  if (status.ok()) status = again.launch(launch, &third);
  seen.compiled = compiles(seen.first, seen.second, third);
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
  if (cl.clEnqueueFillBuffer == nullptr) return {Code::requirement, "there is no fill command"};
  if (launches.empty()) return {Code::requirement, "no launch was recorded"};
  FirstLaunch worst;
  worst.compiled = false;
  for (const RecordedLaunch &launch : launches) {
    Status s = repeat(device, context, queue.get(), program, launch, &worst);
    if (!s.ok()) return s;
  }
  if (Status s = ask_executes(device, context, queue.get(), &worst.executes); !s.ok()) return s;
  *out = worst;
  return {};
}

}  // namespace kiln::builder
