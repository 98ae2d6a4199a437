// SPDX-License-Identifier: Apache-2.0
// Builds, checks and times one set of options after the other.
#include "tests/bench/gemm_sweep.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/tune/sampler.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::test {
namespace {

using builder::Code;
using builder::Status;

constexpr std::size_t kSamples = 5;
constexpr double kSampleNanoseconds = 5e6;

// The number of -DNAME=number among the options.
std::size_t defined(const std::string &options, const std::string &name, std::size_t otherwise) {
  const std::size_t at = options.find("-D" + name + "=");
  return at == std::string::npos
             ? otherwise
             : std::strtoul(options.c_str() + at + name.size() + 3, nullptr, 10);
}

// While it lives no other process has the lock of that file.
class FileLock {
 public:
  explicit FileLock(const std::string &path) {
    if (path.empty()) return;
    file_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (file_ >= 0) flock(file_, LOCK_EX);
  }
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;
  ~FileLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  int file_ = -1;
};

// A kernel that was built from source, and its launches.
class Tiled {
 public:
  Tiled(const builder::OpenedDevice &device, const GemmMatrices &matrices)
      : device_(device), cl_(*device.device->cl), matrices_(matrices) {}

  Status build(const std::string &source, const std::string &options) {
    const char *text = source.c_str();
    cl_int code = CL_SUCCESS;
    program_ = {cl_.clCreateProgramWithSource(device_.context.get(), 1, &text, nullptr, &code),
                cl_.clReleaseProgram};
    if (code != CL_SUCCESS) return runtime::cl_failure("clCreateProgramWithSource", code);
    code = cl_.clBuildProgram(program_.get(), 1, &device_.device->id, options.c_str(), nullptr,
                              nullptr);
    if (code != CL_SUCCESS) return {Code::opencl, "it does not build: " + log()};
    kernel_ = {cl_.clCreateKernel(program_.get(), "gemm_f32_tiled", &code), cl_.clReleaseKernel};
    if (code != CL_SUCCESS) return runtime::cl_failure("clCreateKernel", code);
    code = cl_.clGetKernelWorkGroupInfo(kernel_.get(), device_.device->id,
                                        CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(local),
                                        local.data(), nullptr);
    if (code != CL_SUCCESS) return runtime::cl_failure("clGetKernelWorkGroupInfo", code);
    rows_ = defined(options, "ITEM_ROWS", 8);
    columns_ = defined(options, "ITEM_COLUMNS", 8);
    return {};
  }

  Status enqueue(std::size_t n) const {
    const cl_mem buffers[] = {matrices_.a(), matrices_.b(), matrices_.c()};
    const auto size = static_cast<cl_uint>(n);
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < 3 && code == CL_SUCCESS; ++i) {
      code = cl_.clSetKernelArg(kernel_.get(), i, sizeof(cl_mem), &buffers[i]);
      if (code == CL_SUCCESS) code = cl_.clSetKernelArg(kernel_.get(), 3 + i, sizeof(size), &size);
    }
    if (code != CL_SUCCESS) return runtime::cl_failure("clSetKernelArg", code);
    const std::size_t global[] = {padded((n + columns_ - 1) / columns_, local[0]),
                                  padded((n + rows_ - 1) / rows_, local[1]), local[2]};
    code = cl_.clEnqueueNDRangeKernel(matrices_.queue(), kernel_.get(), 3, nullptr, global,
                                      local.data(), 0, nullptr, nullptr);
    return code == CL_SUCCESS ? Status() : runtime::cl_failure("clEnqueueNDRangeKernel", code);
  }

  std::array<std::size_t, 3> local{};

 private:
  static std::size_t padded(std::size_t items, std::size_t to) {
    return (items + to - 1) / to * to;
  }

  std::string log() const {
    char text[400] = "";
    cl_.clGetProgramBuildInfo(program_.get(), device_.device->id, CL_PROGRAM_BUILD_LOG,
                              sizeof(text) - 1, text, nullptr);
    return text;
  }

  const builder::OpenedDevice &device_;
  const runtime::OpenCL &cl_;
  const GemmMatrices &matrices_;
  runtime::Handle<cl_program> program_;
  runtime::Handle<cl_kernel> kernel_;
  std::size_t rows_ = 8;
  std::size_t columns_ = 8;
};

Status measure(const GemmMatrices &matrices, const GemmWay &way, std::size_t n, SweepRow *row) {
  Status status = matrices.spoil(n);
  if (!status.ok()) return status;
  auto took = time_products(matrices, way, n, 1);
  if (!took.ok()) return took.status();
  const auto error = matrices.worst_error(n);
  if (!error.ok()) return error.status();
  took = time_products(matrices, way, n, 1);  // the first may have compiled
  if (!took.ok()) return took.status();
  const auto count =
      std::clamp<std::size_t>(static_cast<std::size_t>(kSampleNanoseconds / *took), 1, 100);
  std::vector<double> samples;
  for (std::size_t i = 0; i < kSamples && took.ok(); ++i) {
    took = time_products(matrices, way, n, count);
    if (took.ok()) samples.push_back(*took);
  }
  GemmTime time;
  time.nanoseconds = builder::median(samples);
  row->gigaflops.push_back(time.gigaflops(n));
  row->right.push_back(*error <= allowed_error(n));
  return took.status();
}

SweepRow try_options(const builder::OpenedDevice &device, const GemmMatrices &matrices,
                     const SweepRequest &request, const std::string &options) {
  SweepRow row;
  row.options = options;
  Tiled tiled(device, matrices);
  const auto start = builder::Clock::now();
  row.status = tiled.build(request.source, "-cl-std=CL1.2 " + options);
  row.build = builder::milliseconds_since(start);
  if (!row.status.ok()) return row;
  row.work_group = fmt::format("{}x{}x{}", tiled.local[0], tiled.local[1], tiled.local[2]);
  const GemmWay way{options, [&](std::size_t n) { return tiled.enqueue(n); }};
  const FileLock alone(request.lock);
  for (const std::size_t n : request.sizes) {
    if (row.status.ok()) row.status = measure(matrices, way, n, &row);
  }
  return row;
}

}  // namespace

std::vector<std::string> sweep_options() {
  const auto tile = [](int rows, int columns, int depth, int item_rows, int item_columns,
                       const std::string &more = {}) {
    return fmt::format(
        "-DTILE_ROWS={} -DTILE_COLUMNS={} -DTILE_DEPTH={} -DITEM_ROWS={} -DITEM_COLUMNS={}{}", rows,
        columns, depth, item_rows, item_columns, more);
  };
  const std::string capped = " -cl-nv-maxrregcount=128";
  const std::string single = " -DBUFFERS=1";
  return {
      tile(128, 128, 16, 8, 8),
      tile(128, 128, 8, 8, 8),
      tile(64, 64, 16, 8, 8, " -DSLICES=4"),
      tile(64, 64, 16, 4, 4),
      tile(128, 64, 16, 8, 4),
      tile(128, 128, 8, 8, 8, capped),
      tile(64, 64, 16, 8, 8, " -DSLICES=4" + capped),
      tile(128, 64, 16, 8, 8, " -DSLICES=2"),
      tile(128, 64, 16, 8, 8, " -DSLICES=2" + capped),
      tile(64, 64, 32, 8, 8, " -DSLICES=4"),
      tile(64, 64, 16, 8, 4),
      tile(64, 64, 16, 8, 4, " -DSLICES=2"),
      tile(128, 128, 16, 8, 8, single),
      tile(128, 128, 8, 8, 8, single),
      tile(128, 128, 8, 8, 8, single + capped),
      tile(128, 64, 8, 8, 4),
      tile(128, 64, 8, 8, 8),
      tile(64, 128, 16, 4, 8),
      tile(64, 128, 16, 8, 8),
      tile(256, 128, 8, 16, 8),
      tile(128, 256, 8, 8, 16),
      tile(256, 128, 16, 16, 8, single),
      tile(128, 256, 16, 8, 16, single),
      tile(128, 128, 32, 8, 8, single),
      tile(128, 128, 8, 8, 8, " -DLANES=16"),
      tile(128, 128, 16, 8, 8, " -DLANES=4"),
      tile(128, 128, 16, 8, 8, " -cl-mad-enable"),
      tile(64, 64, 16, 8, 8, " -DSLICES=2"),
      tile(64, 64, 32, 8, 8, " -DSLICES=4" + single),
      tile(64, 64, 32, 4, 4),
  };
}

void sweep(const builder::OpenedDevice &device, const GemmMatrices &matrices,
           const SweepRequest &request, const std::function<void(const SweepRow &)> &row) {
  const auto start = builder::Clock::now();
  for (const std::string &options : request.options) {
    if (builder::milliseconds_since(start) > 1e3 * request.seconds) break;
    row(try_options(device, matrices, request, options));
  }
}

}  // namespace kiln::test
