// SPDX-License-Identifier: Apache-2.0
// Times copies between buffers that are larger than the device's caches, and fills of one, each in
// a child process.
#include "tests/bench/kiln_bench/buffer_commands.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include <dlfcn.h>

#include "builder/device/opened_device.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/tune/sampler.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::chrono::minutes kTimeout{2};
// A copy of such a size takes most of the time that the host waits, so a device's clock that counts
// less than an eighth of it is wrong: rusticl 22.3 reports 1 ns for every command.
constexpr double kMaxOverhead = 8;
constexpr int kPattern = 0x5c;
constexpr std::size_t kMaxPattern = 128;  // bytes

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

bool is_cpu(const runtime::OpenCL &cl, cl_device_id id) {
  return (device_fact<cl_device_type>(cl, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

// Four times the device's reported cache, and at least 64 MiB (CPU) or 256 MiB, limited so that
// two buffers of that size fit into the device's memory.
std::uint64_t copy_size(const runtime::OpenCL &cl, cl_device_id id) {
  const auto cache = device_fact<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  const auto most = device_fact<cl_ulong>(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  const auto memory = device_fact<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
  const std::uint64_t wanted =
      std::max<std::uint64_t>(is_cpu(cl, id) ? 64 * kMiB : 256 * kMiB, 4 * cache);
  const std::uint64_t room = std::min<std::uint64_t>({most, memory / 4, 1024 * kMiB});
  return std::min(wanted, room) / kMiB * kMiB;
}

using ClBuffer = runtime::Handle<cl_mem>;

struct CommandTime {
  double device = 0;  // nanoseconds; 0 where the device's clock counts backwards, or not at all
  double host = 0;
};

// A device with a queue, and buffers of one size.
class BufferCommands {
 public:
  Status open(const DeviceInfo &info) {
    if (Status s = child_.open(info); !s.ok()) return s;
    cl_int code = CL_SUCCESS;
    queue_ = {cl().clCreateCommandQueue(child_.context.get(), child_.device->id,
                                        CL_QUEUE_PROFILING_ENABLE, &code),
              cl().clReleaseCommandQueue};
    if (code != CL_SUCCESS) return runtime::cl_failure("clCreateCommandQueue", code);
    opened = true;
    return {};
  }

  const runtime::OpenCL &cl() const { return *child_.device->cl; }
  cl_device_id device() const { return child_.device->id; }
  cl_command_queue queue() const { return queue_.get(); }

  // A buffer whose bytes are all `value`.
  Status make(std::uint64_t size, int value, ClBuffer *out) {
    cl_int code = CL_SUCCESS;
    *out = {cl().clCreateBuffer(child_.context.get(), CL_MEM_READ_WRITE, size, nullptr, &code),
            cl().clReleaseMemObject};
    if (code != CL_SUCCESS) return runtime::cl_failure("clCreateBuffer", code);
    return with_bytes(*out, size, CL_MAP_WRITE,
                      [&](std::uint8_t *bytes) { std::memset(bytes, value, size); });
  }

  // Whether samples of the buffer, its first and last byte among them, are `value`.
  Status all_are(const ClBuffer &memory, std::uint64_t size, int value, bool *same) {
    return with_bytes(memory, size, CL_MAP_READ, [&](std::uint8_t *bytes) {
      *same = bytes[size - 1] == value;
      for (std::uint64_t i = 0; i < size; i += 4093) *same = *same && bytes[i] == value;
    });
  }

  // Runs the command that `enqueue` puts into the queue, given the place for its event.
  template <typename Enqueue>
  Status run(const char *name, Enqueue enqueue, CommandTime *out) {
    const auto start = Clock::now();
    cl_event event = nullptr;
    cl_int code = enqueue(&event);
    if (code != CL_SUCCESS) return runtime::cl_failure(name, code);
    code = cl().clWaitForEvents(1, &event);
    out->host = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    cl_ulong times[2] = {0, 0};
    cl().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 8, &times[0], nullptr);
    cl().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 8, &times[1], nullptr);
    cl().clReleaseEvent(event);
    out->device =
        times[0] != 0 && times[1] > times[0] ? static_cast<double>(times[1] - times[0]) : 0;
    return code == CL_SUCCESS ? Status() : runtime::cl_failure("clWaitForEvents", code);
  }

  // The median of many runs after one that is not timed, since drivers allocate there. `wall`: by
  // the host's clock; it becomes true where the device's is unusable, which one that counts less
  // than the `most`-th part of what the host waited is, too.
  template <typename Enqueue>
  Status measure(const char *name, Enqueue enqueue, double most, bool *wall, double *median) {
    CommandTime time;
    StopRule rule;
    rule.least = 11;
    rule.nanoseconds = 1e9;
    Sampler by_device(rule);
    Sampler by_host(rule);
    Status status = run(name, enqueue, &time);
    while (status.ok() && !(*wall ? by_host : by_device).enough()) {
      status = run(name, enqueue, &time);
      *wall = *wall || !sensible_time(time.device, time.host) || time.device * most < time.host;
      by_device.add(time.device);
      by_host.add(time.host);
    }
    *median = (*wall ? by_host : by_device).statistics().median;
    return status;
  }

  bool opened = false;

 private:
  template <typename Use>
  Status with_bytes(const ClBuffer &memory, std::uint64_t size, cl_map_flags flags, Use use) {
    cl_int code = CL_SUCCESS;
    void *address = cl().clEnqueueMapBuffer(queue_.get(), memory.get(), CL_TRUE, flags, 0, size, 0,
                                            nullptr, nullptr, &code);
    if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueMapBuffer", code);
    use(static_cast<std::uint8_t *>(address));
    code = cl().clEnqueueUnmapMemObject(queue_.get(), memory.get(), address, 0, nullptr, nullptr);
    if (code == CL_SUCCESS) code = cl().clFinish(queue_.get());
    if (code == CL_SUCCESS) return {};
    return runtime::cl_failure("clEnqueueUnmapMemObject", code);
  }

  OpenedDevice child_;
  runtime::Handle<cl_command_queue> queue_;
};

Status copy_status(BufferCommands *commands, CopyBandwidth *out) {
  const auto copy = find_copy(commands->cl());
  if (copy == nullptr) return {Code::opencl, "the OpenCL library has no clEnqueueCopyBuffer"};
  const std::uint64_t size = copy_size(commands->cl(), commands->device());
  if (size == 0) return {Code::requirement, "the device has too little memory"};
  ClBuffer from;
  ClBuffer to;
  Status status = commands->make(size, kPattern, &from);
  if (status.ok()) status = commands->make(size, 0, &to);
  if (!status.ok()) return status;
  double median = 0;
  status = commands->measure(
      "clEnqueueCopyBuffer",
      [&](cl_event *event) {
        return copy(commands->queue(), from.get(), to.get(), 0, 0, size, 0, nullptr, event);
      },
      kMaxOverhead, &out->wall, &median);
  if (!status.ok()) return status;
  out->bytes = size;
  out->gigabytes_per_second = 2 * static_cast<double>(size) / median;
  bool same = false;
  status = commands->all_are(to, size, kPattern, &same);
  if (!status.ok() || same) return status;
  return {Code::opencl, "the device does not copy: clEnqueueCopyBuffer left other bytes"};
}

json copy_in_child(const DeviceInfo &info) {
  BufferCommands commands;
  CopyBandwidth copy;
  Status status = commands.open(info);
  if (status.ok()) status = copy_status(&commands, &copy);
  json answer = to_json(status);
  answer["opened"] = commands.opened;
  answer["cpu"] = commands.opened && is_cpu(commands.cl(), commands.device());
  answer["bytes"] = copy.bytes;
  answer["wall"] = copy.wall;
  answer["gigabytes_per_second"] = copy.gigabytes_per_second;
  return answer;
}

// One pattern; its time is taken where it is the shortest so far.
Status fill_status(BufferCommands *commands, std::uint64_t bytes, std::size_t pattern,
                   FillTime *best) {
  if (commands->cl().clEnqueueFillBuffer == nullptr) {
    return {Code::opencl, "the OpenCL library has no clEnqueueFillBuffer"};
  }
  ClBuffer memory;
  Status status = commands->make(bytes, 0, &memory);
  if (!status.ok()) return status;
  std::uint8_t values[kMaxPattern];
  std::memset(values, kPattern, sizeof(values));
  double median = 0;
  bool wall = best->wall;
  status = commands->measure(
      "clEnqueueFillBuffer",
      [&](cl_event *event) {
        return commands->cl().clEnqueueFillBuffer(commands->queue(), memory.get(), values, pattern,
                                                  0, bytes, 0, nullptr, event);
      },
      HUGE_VAL, &wall, &median);
  bool same = false;
  if (status.ok()) status = commands->all_are(memory, bytes, kPattern, &same);
  if (!status.ok()) return status;
  if (!same)
    return {Code::opencl, "the device does not fill: clEnqueueFillBuffer left other bytes"};
  if (wall == best->wall && best->nanoseconds > 0 && best->nanoseconds <= median) return {};
  best->nanoseconds = median;
  best->pattern = pattern;
  best->wall = wall;
  return {};
}

json fill_in_child(const DeviceInfo &info, std::uint64_t bytes, bool wall) {
  BufferCommands commands;
  FillTime best;
  best.wall = wall;
  Status status = commands.open(info);
  for (const std::size_t pattern : {std::size_t{4}, std::size_t{16}, kMaxPattern}) {
    if (status.ok() && bytes % pattern == 0) status = fill_status(&commands, bytes, pattern, &best);
  }
  if (status.ok() && best.pattern == 0) status = fill_status(&commands, bytes, 1, &best);
  json answer = to_json(status);
  answer["nanoseconds"] = best.nanoseconds;
  answer["pattern"] = best.pattern;
  answer["wall"] = best.wall;
  return answer;
}

}  // namespace

CopyBandwidth measure_copy_bandwidth(const DeviceInfo &device) {
  CopyBandwidth result;
  const ChildResult child = fork_call([&] { return copy_in_child(device); }, kTimeout);
  result.status = child.status();
  if (!child.ok()) return result;
  result.opened = child.answer["opened"];
  result.cpu = child.answer["cpu"];
  result.bytes = child.answer["bytes"];
  result.wall = child.answer["wall"];
  if (result.status.ok()) result.gigabytes_per_second = child.answer["gigabytes_per_second"];
  return result;
}

FillTime measure_fill(const DeviceInfo &device, std::uint64_t bytes, bool wall) {
  FillTime result;
  const ChildResult child = fork_call([&] { return fill_in_child(device, bytes, wall); }, kTimeout);
  result.status = child.status();
  if (!result.status.ok()) return result;
  result.nanoseconds = child.answer["nanoseconds"];
  result.pattern = child.answer["pattern"];
  result.wall = child.answer["wall"];
  return result;
}

}  // namespace kiln::builder
