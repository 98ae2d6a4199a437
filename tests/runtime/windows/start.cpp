// SPDX-License-Identifier: Apache-2.0
// One start of an application, for the test under Wine: loads a program of a pack, launches it,
// checks the results, and prints the notices and the load's report.
//   start PACK [OVERLAY [dies]]
// With `dies` the process ends while the driver builds, without a word to Kiln.
#include <kiln/launch.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
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

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4) return 2;
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
  if (!loaded.program) return 1;
  return launch(loader, *loaded.program) ? 0 : 1;
}
