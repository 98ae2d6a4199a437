// SPDX-License-Identifier: Apache-2.0
// Maps memory to fill and read it, and sums some elements on the host.
#include "tests/bench/gemm_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/opencl/error.hpp"

namespace kiln::test {
namespace {

using builder::Result;
using builder::Status;

constexpr std::size_t kPlaces = 256;  // elements of C that are compared, at most

std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (float &value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return values;
}

double error_of(double got, double expected) {
  if (!std::isfinite(got)) return std::numeric_limits<double>::infinity();
  return std::fabs(got - expected) / std::max(1.0, std::fabs(expected));
}

// The i-th place: the four edges, then places all over the matrix.
std::pair<std::size_t, std::size_t> place(std::size_t i, std::size_t n) {
  const std::size_t along = (i / 8 * 7919 + i) % n;
  switch (i % 8) {
    case 0: return {along, 0};
    case 1: return {along, n - 1};
    case 2: return {0, along};
    case 3: return {n - 1, along};
    default: return {along, (i * 104729) % n};
  }
}

}  // namespace

double allowed_error(std::size_t n) {
  return 4 * static_cast<double>(n) * std::numeric_limits<float>::epsilon();
}

double worst_difference(const std::vector<float> &a, const std::vector<float> &b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, error_of(a[i], b[i]));
  return worst;
}

Status GemmMatrices::make_buffer(std::size_t bytes, runtime::Handle<cl_mem> *out) const {
  const runtime::OpenCL &cl = *device_->device->cl;
  cl_int code = CL_SUCCESS;
  *out = {cl.clCreateBuffer(device_->context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code),
          cl.clReleaseMemObject};
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clCreateBuffer", code);
}

Status GemmMatrices::make(const builder::OpenedDevice &device, cl_command_queue queue,
                          std::size_t most) {
  device_ = &device;
  queue_ = queue;
  const std::size_t count = most * most;
  host_a_ = numbers(count, 1);
  host_b_ = numbers(count, 2);
  for (auto *buffer : {&a_, &b_, &c_}) {
    if (Status s = make_buffer(count * sizeof(float), buffer); !s.ok()) return s;
  }
  const auto copy_from = [](const std::vector<float> &values) {
    return [&](float *floats) { std::copy(values.begin(), values.end(), floats); };
  };
  Status status = with_floats(a(), count, CL_MAP_WRITE, copy_from(host_a_));
  return status.ok() ? with_floats(b(), count, CL_MAP_WRITE, copy_from(host_b_)) : status;
}

Status GemmMatrices::finish() const {
  const cl_int code = device_->device->cl->clFinish(queue());
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clFinish", code);
}

template <typename Use>
Status GemmMatrices::with_floats(cl_mem memory, std::size_t count, cl_map_flags flags,
                                 Use use) const {
  const runtime::OpenCL &cl = *device_->device->cl;
  cl_int code = CL_SUCCESS;
  void *address = cl.clEnqueueMapBuffer(queue(), memory, CL_TRUE, flags, 0, count * sizeof(float),
                                        0, nullptr, nullptr, &code);
  if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueMapBuffer", code);
  use(static_cast<float *>(address));
  code = cl.clEnqueueUnmapMemObject(queue(), memory, address, 0, nullptr, nullptr);
  if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueUnmapMemObject", code);
  return finish();
}

Status GemmMatrices::spoil(std::size_t n) const {
  return with_floats(c(), n * n, CL_MAP_WRITE, [&](float *floats) {
    std::fill(floats, floats + n * n, std::numeric_limits<float>::quiet_NaN());
  });
}

Result<double> GemmMatrices::worst_error(std::size_t n) const {
  double worst = 0;
  Status status = with_floats(c(), n * n, CL_MAP_READ, [&](const float *floats) {
    for (std::size_t i = 0; i < std::min(kPlaces, n * n); ++i) {
      const auto [x, y] = place(i, n);
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        sum += double{host_a_[y * n + k]} * double{host_b_[k * n + x]};
      }
      worst = std::max(worst, error_of(floats[y * n + x], sum));
    }
  });
  if (!status.ok()) return status;
  return worst;
}

Result<std::vector<float>> GemmMatrices::product(std::size_t n) const {
  std::vector<float> values;
  Status status = with_floats(c(), n * n, CL_MAP_READ,
                              [&](const float *floats) { values.assign(floats, floats + n * n); });
  if (!status.ok()) return status;
  return values;
}

}  // namespace kiln::test
