// SPDX-License-Identifier: Apache-2.0
// Launching a kernel as an application was seen to launch it, on memory of the same sizes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "builder/launch/recorded_launch.hpp"
#include "runtime/device/device.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::builder {

// What memory holds before a launch; what it held for the application was not recorded.
enum class MemoryContent : std::uint8_t {
  zeros,
  // In each place another number from a half to one, as float and as half: as integers they are
  // large, so that a kernel that takes an index from memory may end the process.
  pattern,
};

// One launch to its end.
struct RepeatTimes {
  double milliseconds = 0;                // on the host
  std::array<std::uint64_t, 2> device{};  // start and end, nanoseconds; 0: the queue has no clock
};

// For processes that may end: what kernels do with such memory is not known. Calls fail with
// Code::opencl.
class RepeatedLaunch {
 public:
  // All outlive this.
  RepeatedLaunch(const runtime::Device &device, cl_context context, cl_command_queue queue)
      : cl_(*device.cl), context_(context), queue_(queue) {}

  // The kernel with its arguments, and memory that holds zeros. Once. Fails too with
  // Code::over_limit if a launch takes over 1 GiB, and with Code::requirement if something of it
  // was not recorded.
  Status prepare(cl_program program, const RecordedLaunch &launch);
  Status fill(MemoryContent content);
  // With that size; 0: the driver chooses.
  Status launch(const runtime::NDSize &local, RepeatTimes *out);
  // Of the bytes of all memory.
  Status hash(std::uint64_t *out);

  cl_kernel kernel() const { return kernel_.get(); }

 private:
  struct Held {
    runtime::Handle<cl_mem> memory;
    std::uint64_t size = 0;  // of a buffer
    RecordedImage image{};   // without a type: it is a buffer
  };
  // Gets bytes that follow one another: a buffer's, or a row of an image.
  using SeeBytes = std::function<void(std::uint8_t *bytes, std::size_t size)>;

  Status set(cl_uint index, const RecordedArgument &argument);
  Status set(cl_uint index, std::size_t size, const void *value);
  Status set_memory(cl_uint index, Held held);
  Status set_buffer(cl_uint index, const RecordedArgument &argument);
  Status set_image(cl_uint index, const RecordedImage &image);
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
  std::uint64_t taken_ = 0;
};

// Whether what a queue is given happens: a device without hardware may report success.
Status ask_executes(const runtime::Device &device, cl_context context, cl_command_queue queue,
                    bool *out);

}  // namespace kiln::builder
