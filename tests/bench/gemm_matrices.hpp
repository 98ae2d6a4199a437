// SPDX-License-Identifier: Apache-2.0
// Square matrices on a device, and whether a product of them is right.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/machine/opened_device.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::test {

// A, B and C of n x n floats for n up to a most. Not for more than one thread; the device and the
// queue outlive it.
class GemmMatrices {
 public:
  // Memory for n up to `most`, with numbers from -1 to 1 in A and B. The queue is in order. Fails
  // with Code::opencl.
  builder::Status make(const builder::OpenedDevice &device, cl_command_queue queue,
                       std::size_t most);

  cl_command_queue queue() const { return queue_; }
  cl_mem a() const { return a_.get(); }
  cl_mem b() const { return b_.get(); }
  cl_mem c() const { return c_.get(); }

  // Waits for the queue. Fails with Code::opencl.
  builder::Status finish() const;

  // Puts NaN into every element of C.
  builder::Status spoil(std::size_t n) const;

  // The largest |c - r| / max(1, |r|) of elements of C at many places, all edges among them, with r
  // summed by the host in double precision; infinity where one is no number. Waits for the queue.
  builder::Result<double> worst_error(std::size_t n) const;

  // All of C, row by row.
  builder::Result<std::vector<float>> product(std::size_t n) const;

 private:
  template <typename Use>
  builder::Status with_floats(cl_mem memory, std::size_t count, cl_map_flags flags, Use use) const;
  builder::Status make_buffer(std::size_t bytes, runtime::Handle<cl_mem> *out) const;

  const builder::OpenedDevice *device_ = nullptr;
  cl_command_queue queue_ = nullptr;
  runtime::Handle<cl_mem> a_, b_, c_;
  std::vector<float> host_a_, host_b_;
};

// What is allowed of worst_error(): far more than roundings make in any order of the sums, and far
// less than a product that is missing.
double allowed_error(std::size_t n);

// The largest |a - b| / max(1, |b|); infinity where one is no number.
double worst_difference(const std::vector<float> &a, const std::vector<float> &b);

}  // namespace kiln::test
