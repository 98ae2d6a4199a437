// SPDX-License-Identifier: Apache-2.0
// One start of an application, for the test under Wine: loads a program of a pack, launches it,
// checks the results, and prints the notices, the load's report, and the time since it began.
//   start PACK [OVERLAY [dies]]
// With `dies` the process ends while the driver builds, without a word to Kiln.
//   start bare BINARY
// does the same with a file that holds the driver's binary, without Kiln
// (tests/bench/wine_start.py).
#include <kiln/launch.hpp>

#include <windows.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

constexpr unsigned kCount = 1000;
constexpr unsigned kFactor = 3;

template <typename T>
T must(kiln::Result<T> result) {
  if (!result) {
    std::printf("failed: %s\n", result.error().message);
    std::exit(1);
  }
  return std::move(*result);
}

void must(const kiln::Status &status) {
  if (status.ok()) return;
  std::printf("failed: %s\n", status.message);
  std::exit(1);
}

// Ends the process as soon as a marker says that it is in the driver.
void die_in_driver(const std::filesystem::path &overlay) {
  for (;;) {
    std::error_code none;
    for (const auto &entry : std::filesystem::directory_iterator(overlay, none)) {
      if (entry.path().filename().string().compare(0, 2, "a-") != 0) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      for (std::istreambuf_iterator<char> byte(file), end; byte != end; ++byte) {
        if (*byte != 0) std::_Exit(9);
      }
    }
  }
}

void print_notice(const kiln_notice *notice, void *) {
  std::printf("notice %d: %s\n", static_cast<int>(notice->kind), notice->text);
}

bool launch(const kiln::Loader &loader, const kiln::Program &program) {
  const auto kernel = must(kiln::Kernel::create(program));
  const auto queue = must(kiln::Queue::create(loader));
  const auto values =
      must(kiln::Buffer::create(loader, kCount * sizeof(unsigned), KILN_ACCESS_BOTH));
  const auto sizes = must(kiln::Buffer::create(loader, 16, KILN_ACCESS_WRITE));
  auto *numbers = static_cast<unsigned *>(must(values.map(queue)));
  for (unsigned i = 0; i < kCount; ++i) numbers[i] = i;
  must(values.unmap(queue));
  must(kernel.set(0, values));
  must(kernel.set(1, kFactor));
  must(kernel.set(2, kCount));
  must(kernel.set(3, sizes));
  kiln_ndrange range{};
  range.dimensions = 1;
  range.global[0] = kCount;
  must(kernel.launch(queue, range));
  numbers = static_cast<unsigned *>(must(values.map(queue)));
  unsigned right = 0;
  for (unsigned i = 0; i < kCount; ++i) right += numbers[i] == kFactor * i ? 1 : 0;
  must(values.unmap(queue));
  std::printf("%u of %u are right\n", right, kCount);
  return right == kCount;
}

// A function of opencl.dll.
template <typename Function>
Function *function(const char *name) {
  static const HMODULE library = LoadLibraryA("opencl.dll");
  const auto found = library != nullptr ? GetProcAddress(library, name) : nullptr;
  if (found == nullptr) {
    std::printf("failed: no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function *>(reinterpret_cast<void *>(found));
}
#define CL(name) function<decltype(name)>(#name)

bool launch_bare(const char *path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  const std::size_t size = bytes.size(), global = kCount;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int error = CL(clGetPlatformIDs)(1, &platform, nullptr);
  error |= CL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  const auto context = CL(clCreateContext)(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const auto program =
      CL(clCreateProgramWithBinary)(context, 1, &device, &size, &data, nullptr, nullptr);
  error |= CL(clBuildProgram)(program, 1, &device, "", nullptr, nullptr);
  const auto kernel = CL(clCreateKernel)(program, "scale", nullptr);
  const auto queue = CL(clCreateCommandQueue)(context, device, 0, nullptr);
  unsigned numbers[kCount];
  for (unsigned i = 0; i < kCount; ++i) numbers[i] = i;
  auto values =
      CL(clCreateBuffer)(context, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers, nullptr);
  auto sizes = CL(clCreateBuffer)(context, CL_MEM_READ_WRITE, 16, nullptr, nullptr);
  error |= CL(clSetKernelArg)(kernel, 0, sizeof(values), &values);
  error |= CL(clSetKernelArg)(kernel, 1, sizeof(kFactor), &kFactor);
  error |= CL(clSetKernelArg)(kernel, 2, sizeof(kCount), &kCount);
  error |= CL(clSetKernelArg)(kernel, 3, sizeof(sizes), &sizes);
  error |=
      CL(clEnqueueNDRangeKernel)(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
  error |= CL(clEnqueueReadBuffer)(queue, values, CL_TRUE, 0, sizeof(numbers), numbers, 0, nullptr,
                                   nullptr);
  unsigned right = 0;
  for (unsigned i = 0; i < kCount; ++i) right += numbers[i] == kFactor * i ? 1 : 0;
  return error == CL_SUCCESS && right == kCount;
}

bool launch_from(int argc, char **argv) {
  const auto opencl = must(kiln::OpenCL::open());
  const auto device = must(opencl.device(0));
  const auto pack = must(kiln::Pack::open_file(argv[1]));
  kiln::LoaderOptions options;
  options.notice = print_notice;
  if (argc > 2) options.use_overlay(argv[2]);
  const auto loader = must(kiln::Loader::create(device, pack, options));
  if (argc > 3) std::thread(die_in_driver, std::filesystem::path(argv[2])).detach();
  const kiln::Loaded loaded = loader.load("scale", "a_plain");
  std::puts(loaded.report.json().c_str());
  return loaded.program && launch(loader, *loaded.program);
}

}  // namespace

int main(int argc, char **argv) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  if (argc < 2 || argc > 4) return 2;
  const bool right =
      std::string(argv[1]) == "bare" ? launch_bare(argv[2]) : launch_from(argc, argv);
  const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
  std::printf("microseconds: %.0f\n", took.count());
  return right ? 0 : 1;
}
