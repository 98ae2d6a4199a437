// SPDX-License-Identifier: Apache-2.0
// Launches the kernel of the pack inside by the header that kiln_add_pack made.
#include <cstdio>
#include <cstdlib>
#include <kiln/launch.hpp>

#include "add_one.h"
#include "stubs.hpp"

template <typename T>
T must(kiln::Result<T> result) {
  if (result) return std::move(*result);
  std::printf("fault: %s\n", result.error().message);
  std::exit(1);
}

void must(const kiln::Status &status) {
  if (status.ok()) return;
  std::printf("fault: %s\n", status.message);
  std::exit(1);
}

int main() {
  constexpr unsigned kCount = 100;
  const auto opencl = must(kiln::OpenCL::open());
  const auto device = must(opencl.device(0));
  const auto pack = must(kiln::Pack::open_memory(add_one_data, add_one_size));
  const auto loader = must(kiln::Loader::create(device, pack));
  const auto program = must(kernels::add_one::load(loader).program);
  const auto kernel = must(kernels::add_one::add_one::create(program));
  const auto queue = must(kiln::Queue::create(loader));
  const auto values = must(kiln::BufferOf<unsigned char>::create(loader, kCount, KILN_ACCESS_BOTH));
  unsigned char *bytes = must(values.map(queue));
  for (unsigned i = 0; i < kCount; ++i) bytes[i] = static_cast<unsigned char>(i);
  must(values.unmap(queue));
  kiln_ndrange range{};
  range.dimensions = 1;
  range.global[0] = kCount;
  must(kernel(queue, range, values));
  bytes = must(values.map(queue));
  for (unsigned i = 0; i < kCount; ++i) {
    if (bytes[i] != i + 1) return std::printf("fault: value %u is %u\n", i, bytes[i]), 1;
  }
  must(values.unmap(queue));
  std::puts("OK");
}
