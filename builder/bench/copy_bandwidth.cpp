// SPDX-License-Identifier: Apache-2.0
// Times copies between two buffers that are larger than the device's caches, in a child process.
#include "builder/bench/copy_bandwidth.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <dlfcn.h>

#include "builder/device/opened_device.hpp"
#include "builder/measure/sampler.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/status_json.hpp"
#include "runtime/opencl/handle.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::chrono::minutes kTimeout{2};
// A copy of that size takes most of the time that the host waits, so a device's clock that counts
// less than an eighth of it is wrong: rusticl 22.3 reports 1 ns for every command.
constexpr double kMaxOverhead = 8;

// The runtime's table of entry points lacks this call, which only the bench uses: it is taken
// from the library that the table's functions came from.
decltype(&::clEnqueueCopyBuffer) find_copy(const runtime::OpenCL &cl) {
  Dl_info info{};
  void *known = nullptr;
  std::memcpy(&known, &cl.clFinish, sizeof(known));
  if (dladdr(known, &info) == 0) return nullptr;
  void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void *found = library == nullptr ? nullptr : dlsym(library, "clEnqueueCopyBuffer");
  decltype(&::clEnqueueCopyBuffer) function = nullptr;
  std::memcpy(&function, &found, sizeof(function));
  return function;
}

template <typename T>
T device_fact(const runtime::OpenCL &cl, cl_device_id id, cl_device_info what) {
  T value{};
  return cl.clGetDeviceInfo(id, what, sizeof(value), &value, nullptr) == CL_SUCCESS ? value : T{};
}

// Four times the device's reported cache, and at least 64 MiB (CPU) or 256 MiB, limited so that
// two buffers of that size fit into the device's memory.
std::uint64_t copy_size(const runtime::OpenCL &cl, cl_device_id id) {
  const bool cpu = (device_fact<cl_device_type>(cl, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  const auto cache = device_fact<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  const auto most = device_fact<cl_ulong>(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  const auto memory = device_fact<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
  const std::uint64_t wanted = std::max<std::uint64_t>(cpu ? 64 * kMiB : 256 * kMiB, 4 * cache);
  const std::uint64_t room = std::min<std::uint64_t>({most, memory / 4, 1024 * kMiB});
  return std::min(wanted, room) / kMiB * kMiB;
}

class Copier {
 public:
  Status prepare(const DeviceInfo &info) {
    if (Status s = child_.open(info); !s.ok()) return s;
    opened = true;
    const runtime::OpenCL &cl = this->cl();
    copy_ = find_copy(cl);
    if (copy_ == nullptr) {
      return {Code::opencl, "the OpenCL library has no clEnqueueCopyBuffer"};
    }
    size = copy_size(cl, child_.device->id);
    if (size == 0) return {Code::requirement, "the device has too little memory"};
    cl_int code = CL_SUCCESS;
    queue_ = {cl.clCreateCommandQueue(child_.context.get(), child_.device->id,
                                      CL_QUEUE_PROFILING_ENABLE, &code),
              cl.clReleaseCommandQueue};
    if (code != CL_SUCCESS) return runtime::cl_failure("clCreateCommandQueue", code);
    for (auto *buffer : {&from_, &to_}) {
      *buffer = {cl.clCreateBuffer(child_.context.get(), CL_MEM_READ_WRITE, size, nullptr, &code),
                 cl.clReleaseMemObject};
      if (code != CL_SUCCESS) return runtime::cl_failure("clCreateBuffer", code);
    }
    Status status = fill(&from_, 0x5c);
    return status.ok() ? fill(&to_, 0) : status;
  }

  Status copy(double *device, double *host) {
    const auto start = Clock::now();
    cl_event event = nullptr;
    cl_int code = copy_(queue_.get(), from_.get(), to_.get(), 0, 0, size, 0, nullptr, &event);
    if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueCopyBuffer", code);
    code = cl().clWaitForEvents(1, &event);
    *host = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    cl_ulong times[2] = {0, 0};
    cl().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 8, &times[0], nullptr);
    cl().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 8, &times[1], nullptr);
    cl().clReleaseEvent(event);
    *device = times[0] != 0 && times[1] > times[0] ? static_cast<double>(times[1] - times[0]) : 0;
    return code == CL_SUCCESS ? Status() : runtime::cl_failure("clWaitForEvents", code);
  }

  // Compares samples of the copy, its first and last byte among them.
  Status check() {
    bool same = true;
    Status status = with_bytes(&to_, CL_MAP_READ, [&](std::uint8_t *bytes) {
      for (std::uint64_t i = 0; i < size; i += 4093) same = same && bytes[i] == 0x5c;
      same = same && bytes[size - 1] == 0x5c;
    });
    if (!status.ok() || same) return status;
    return {Code::opencl, "the device does not copy: clEnqueueCopyBuffer left other bytes"};
  }

  std::uint64_t size = 0;
  bool opened = false;

 private:
  using Memory = runtime::Handle<cl_mem>;

  const runtime::OpenCL &cl() const { return *child_.device->cl; }

  template <typename Use>
  Status with_bytes(Memory *memory, cl_map_flags flags, Use use) {
    cl_int code = CL_SUCCESS;
    void *address = cl().clEnqueueMapBuffer(queue_.get(), memory->get(), CL_TRUE, flags, 0, size, 0,
                                            nullptr, nullptr, &code);
    if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueMapBuffer", code);
    use(static_cast<std::uint8_t *>(address));
    code = cl().clEnqueueUnmapMemObject(queue_.get(), memory->get(), address, 0, nullptr, nullptr);
    if (code == CL_SUCCESS) code = cl().clFinish(queue_.get());
    if (code == CL_SUCCESS) return {};
    return runtime::cl_failure("clEnqueueUnmapMemObject", code);
  }

  Status fill(Memory *memory, int value) {
    return with_bytes(memory, CL_MAP_WRITE,
                      [&](std::uint8_t *bytes) { std::memset(bytes, value, size); });
  }

  OpenedDevice child_;
  decltype(&::clEnqueueCopyBuffer) copy_ = nullptr;
  runtime::Handle<cl_command_queue> queue_;
  Memory from_;
  Memory to_;
};

json answer_with(const Status &status, bool opened) {
  json answer = to_json(status);
  answer["opened"] = opened;
  return answer;
}

json copy_in_child(const DeviceInfo &info) {
  Copier copier;
  double device = 0;
  double host = 0;
  Status status = copier.prepare(info);
  if (status.ok()) status = copier.copy(&device, &host);  // not timed: the driver allocates here
  if (!status.ok()) return answer_with(status, copier.opened);
  StopRule rule;
  rule.least = 11;
  rule.nanoseconds = 1e9;
  Sampler by_device(rule);
  Sampler by_host(rule);
  bool wall = false;
  while (!(wall ? by_host : by_device).enough()) {
    status = copier.copy(&device, &host);
    if (!status.ok()) return answer_with(status, true);
    wall = wall || !sensible_time(device, host) || device * kMaxOverhead < host;
    by_device.add(device);
    by_host.add(host);
  }
  const double median = (wall ? by_host : by_device).statistics().median;
  json answer = answer_with(copier.check(), true);
  answer["bytes"] = copier.size;
  answer["wall"] = wall;
  answer["gigabytes_per_second"] = 2 * static_cast<double>(copier.size) / median;
  return answer;
}

}  // namespace

CopyBandwidth measure_copy_bandwidth(const DeviceInfo &device) {
  CopyBandwidth result;
  const ChildResult child = fork_call([&] { return copy_in_child(device); }, kTimeout);
  result.status = child.status();
  if (child.ok()) result.opened = child.answer["opened"];
  if (!child.ok() || !child.answer.contains("bytes")) return result;
  result.bytes = child.answer["bytes"];
  result.wall = child.answer["wall"];
  if (result.status.ok()) result.gigabytes_per_second = child.answer["gigabytes_per_second"];
  return result;
}

}  // namespace kiln::builder
