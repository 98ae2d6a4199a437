// SPDX-License-Identifier: Apache-2.0
// Launches the same small problem twice and checks whether the outputs changed at all; repeats each
// recorded launch and compares the times of the repetitions.
#include "builder/finish/launch_twice.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <unistd.h>

#include "builder/finish/launch_sizes.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/run/repeated_launch.hpp"
#include "runtime/opencl/error.hpp"
#include "runtime/opencl/library.hpp"
#include "runtime/provision/mesa_cache.hpp"

namespace kiln::builder {

namespace fs = std::filesystem;

namespace {

constexpr std::uint8_t kBefore = 0xa5;  // initial value of every byte of an output

std::vector<std::vector<std::uint8_t>> pixels_of(const std::vector<Plane> &planes) {
  std::vector<std::vector<std::uint8_t>> all;
  for (const Plane &plane : planes) all.push_back(plane.pixels);
  return all;
}

using runtime::Device;
using runtime::Handle;

Status failure(const char *call, cl_int code) { return runtime::cl_failure(call, code); }

// Returns whether the first of three launches compiled. An application's own launch may run long
// and so hide the compilation before it. Then the test is how far the first time is from the next
// two, compared with the difference between those two.
bool compiles(double first, double second, double third) {
  constexpr double kLong = 20;
  const FirstLaunch rule{first, second};
  const double noise = std::abs(second - third);
  return rule.compiles() ||
         (rule.first_launch_cost() > kLong && rule.first_launch_cost() > 5 * noise);
}

Status repeat(const Device &device, cl_context context, cl_command_queue queue, cl_program program,
              const RecordedLaunch &launch, std::chrono::seconds longest, FirstLaunch *worst,
              std::vector<std::uint64_t> *memory) {
  RepeatedLaunch again(device, context, queue);
  RepeatTimes first;
  RepeatTimes second;
  RepeatTimes third;
  Status status = again.prepare(program, launch);
  for (RepeatTimes *times : {&first, &second, &third}) {
    if (!status.ok()) break;
    alarm(static_cast<unsigned>(longest.count()));
    status = again.launch(launch.local, times);
    alarm(0);
  }
  if (status.ok() && memory != nullptr) status = again.hash(&memory->emplace_back());
  FirstLaunch seen{first.milliseconds, second.milliseconds};
  seen.compiled = compiles(first.milliseconds, second.milliseconds, third.milliseconds);
  if (!status.ok()) {
    status.message = launch.kernel + ": " + status.message;
    return status;
  }
  const bool worse = seen.compiles() == worst->compiles()
                         ? seen.first_launch_cost() > worst->first_launch_cost()
                         : seen.compiles();
  if (worse) *worst = seen;
  return {};
}

}  // namespace

ProblemSize small_problem(const packs::Program &program) {
  if (works_on_rows(program)) return {4096, 1, 1};
  const bool deep = std::any_of(program.sizes.begin(), program.sizes.end(),
                                [](const auto &size) { return size[2] > 1; });
  return {64, 64, deep ? 64u : 1u};
}

Status launch_twice(const packs::Program &program, const packs::Variant &variant, Session *session,
                    FirstLaunch *out) {
  const ProgramShape shape = program_shape(program);
  std::vector<Plane> before;
  std::vector<Plane> after;
  Launched first;
  Launched second;
  Status status = session->upload(make_inputs(program, session->workload().size));
  if (status.ok()) status = session->fill_outputs(kBefore);
  if (status.ok()) status = session->download(shape, &before);
  if (status.ok()) status = session->launch({}, &first);
  if (status.ok()) status = session->launch({}, &second);
  if (status.ok()) status = session->download(shape, &after);
  if (!status.ok()) {
    status.message = variant.name + ": " + status.message;
    return status;
  }
  out->first = first.host_nanoseconds / 1e6;
  out->second = second.host_nanoseconds / 1e6;
  out->executes = pixels_of(before) != pixels_of(after);
  return {};
}

Status launch_recorded(const Device &device, cl_program program,
                       const std::vector<RecordedLaunch> &launches,
                       const std::vector<RecordedLaunch> &tuned, std::chrono::seconds longest,
                       FirstLaunch *out, std::vector<std::uint64_t> *memory) {
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
    Status s = repeat(device, context, queue.get(), program, launch, longest, &worst, memory);
    if (!s.ok()) return s;
  }
  for (const RecordedLaunch &launch : tuned) {
    (void)repeat(device, context, queue.get(), program, launch, longest, &worst, nullptr);
  }
  if (Status s = ask_executes(device, context, queue.get(), &worst.executes); !s.ok()) return s;
  *out = worst;
  return {};
}

std::chrono::seconds longest_launch(std::uint64_t build_microseconds,
                                    std::chrono::milliseconds step) {
  using std::chrono::seconds;
  const std::chrono::microseconds built(build_microseconds);
  const seconds wanted = std::max(seconds(20), std::chrono::ceil<seconds>(10 * built));
  return std::clamp(std::chrono::duration_cast<seconds>(step / 2), seconds(1), wanted);
}

bool keeps_compiled(runtime::Finishing finishing) {
  return finishing == runtime::Finishing::launches || finishing == runtime::Finishing::shader_cache;
}

std::uintmax_t compiled_bytes(const std::string &caches) {
  await_mesa();
  std::uintmax_t bytes = 0;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(caches, ignored), end; it != end;
       it.increment(ignored)) {
    if (it->path().filename() == kMesaRoot) it.disable_recursion_pending();
    if (it->is_regular_file(ignored)) bytes += it->file_size(ignored);
  }
  for (const fs::path &database : mesa_databases(caches)) {
    const std::uintmax_t size = fs::file_size(database, ignored);
    if (size > runtime::kFozMagicSize) bytes += size - runtime::kFozMagicSize;
  }
  return bytes;
}

}  // namespace kiln::builder
