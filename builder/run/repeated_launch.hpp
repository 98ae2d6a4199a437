// SPDX-License-Identifier: Apache-2.0
// Launches a kernel as recorded from an application, on memory of the same sizes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "builder/problem/plane.hpp"
#include "builder/run/recorded_launch.hpp"
#include "runtime/device/device.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::builder {

// Contents of memory before a launch; the contents in the application were not recorded.
enum class MemoryContent : std::uint8_t {
  zeros,
  // A pseudo-random number in each place: from 0.5 to 1 as float, from 0.5 to 1 or from 1.75 to
  // 1.88 as half. As integers the numbers are large, so a kernel that takes an index from memory
  // may end the process.
  pattern,
};

// Times of one launch, until it completes.
struct RepeatTimes {
  double milliseconds = 0;                // on the host
  std::array<std::uint64_t, 2> device{};  // start and end, nanoseconds; 0: the queue has no clock
};

// A recorded kernel with its arguments and memory. Only for processes that may end: the effect of
// such memory on kernels is not known. Methods fail with Code::opencl.
class RepeatedLaunch {
 public:
  // All arguments must outlive this object.
  RepeatedLaunch(const runtime::Device &device, cl_context context, cl_command_queue queue)
      : cl_(*device.cl), context_(context), queue_(queue) {}

  // Creates the kernel with its arguments, and memory that holds zeros. Call it once. Also fails
  // with Code::over_limit if a launch takes over 1 GiB, and with Code::requirement if part of the
  // launch was not recorded.
  Status prepare(cl_program program, const RecordedLaunch &launch);
  Status fill(MemoryContent content);
  // Launches with this work-group size; 0: the driver chooses.
  Status launch(const runtime::NDSize &local, RepeatTimes *out);
  // Hashes the bytes of all memory.
  Status hash(std::uint64_t *out);

  cl_kernel kernel() const { return kernel_.get(); }

 private:
  struct Held {
    runtime::Handle<cl_mem> pixels;  // buffer of a 1D image of a buffer
    runtime::Handle<cl_mem> memory;
    std::uint64_t size = 0;  // bytes of a buffer
    RecordedImage image{};   // type is 0 for a buffer
  };
  // Gets contiguous bytes: a whole buffer, or a row of an image.
  using SeeBytes = std::function<void(std::uint8_t *bytes, std::size_t size)>;

  Status set(cl_uint index, const RecordedArgument &argument);
  Status set(cl_uint index, std::size_t size, const void *value);
  Status set_memory(cl_uint index, Held held);
  Status set_buffer(cl_uint index, const RecordedArgument &argument);
  Status set_image(cl_uint index, const RecordedImage &image);
  Status set_sampler(cl_uint index, const RecordedSampler &sampler);
  Status take_room(std::uint64_t bytes);
  Status see(const Held &held, cl_map_flags how, const SeeBytes &see);
  Status see_buffer(const Held &held, cl_map_flags how, const SeeBytes &see);
  Status see_image(const Held &held, cl_map_flags how, const SeeBytes &see);

  const runtime::OpenCL &cl_;
  cl_context context_;
  cl_command_queue queue_;
  runtime::Handle<cl_kernel> kernel_;
  unsigned dimensions_ = 1;
  runtime::NDSize global_{1, 1, 1};
  runtime::NDSize offset_{0, 0, 0};
  std::vector<Held> held_;
  std::vector<runtime::Handle<cl_sampler>> samplers_;
  std::uint64_t taken_ = 0;
};

// Compares hashes of the memory of launches. Unchecked if none is expected.
Comparison compare_memory(const std::vector<std::uint64_t> &got,
                          const std::vector<std::uint64_t> &expected);

// Finds out whether a queue really executes commands: a device without hardware may report success.
Status ask_executes(const runtime::Device &device, cl_context context, cl_command_queue queue,
                    bool *out);

}  // namespace kiln::builder
