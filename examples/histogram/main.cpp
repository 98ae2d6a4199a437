// SPDX-License-Identifier: Apache-2.0
// Counts bytes on the first OpenCL device, in local memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <kiln/kiln.hpp>
#include <vector>

#include "kernels.h"  // kiln_embed_pack() writes it

namespace {

constexpr unsigned kCount = 1'000'000;
constexpr std::size_t kBins = 256 * sizeof(cl_uint);

void check(const kiln::Status &status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message);
  std::exit(1);
}

template <typename T>
T take(kiln::Result<T> result) {
  check(result.error());
  return std::move(*result);
}

}  // namespace

int main() {
  const auto opencl = take(kiln::OpenCL::open());
  const auto device = take(opencl.device(0));
  const auto pack = take(kiln::Pack::open_memory(kernels_data, kernels_size));
  const auto loader = take(kiln::Loader::create(device, pack));
  const auto program = take(loader.load("histogram").program);
  const auto kernel = take(kiln::Kernel::create(program, "histogram"));
  const auto queue = take(kiln::Queue::create(loader));
  const auto values = take(kiln::Buffer::create(loader, kCount, KILN_ACCESS_READ));
  const auto bins = take(kiln::Buffer::create(loader, kBins, KILN_ACCESS_BOTH));

  std::vector<unsigned> expected(256);
  auto *bytes = static_cast<unsigned char *>(take(values.map(queue)));
  for (unsigned i = 0; i < kCount; ++i) {
    bytes[i] = static_cast<unsigned char>(i % 251 * (i % 7));
    ++expected[bytes[i]];
  }
  check(values.unmap(queue));
  std::fill_n(static_cast<cl_uint *>(take(bins.map(queue))), 256, 0);
  check(bins.unmap(queue));

  check(kernel.set(0, values));
  check(kernel.set(1, kCount));
  check(kernel.set(2, bins));
  check(kernel.set(3, kiln::local(kBins)));  // for each work-group
  const auto event = take(kernel.launch(queue, {1, {4096}, {64}, {}}));
  check(event.wait());

  const auto *counted = static_cast<const cl_uint *>(take(bins.map(queue)));
  const bool right = std::equal(expected.begin(), expected.end(), counted);
  check(bins.unmap(queue));
  std::printf("counted %u bytes: %s\n", kCount, right ? "right" : "wrong");
  return right ? 0 : 1;
}
