// SPDX-License-Identifier: Apache-2.0
// Counts bytes on the first OpenCL device, in local memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <kiln/kiln.hpp>
#include <vector>

#include "kernels.h"  // kiln_add_pack() writes it, with the pack,
#include "stubs.hpp"  // and this, with the kernels' parameters

namespace {

constexpr unsigned kCount = 1'000'000;
constexpr std::size_t kBins = 256;

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
  auto loaded = kernels::histogram::load(loader, kiln::IfStale::fail);
  const auto histogram =
      take(kernels::histogram::histogram::create(take(std::move(loaded.program))));
  const auto queue = take(kiln::Queue::create(loader));
  const auto values = take(kiln::BufferOf<cl_uchar>::create(loader, kCount, KILN_ACCESS_READ));
  const auto bins = take(kiln::BufferOf<cl_uint>::create(loader, kBins, KILN_ACCESS_BOTH));

  std::vector<unsigned> expected(256);
  cl_uchar *bytes = take(values.map(queue));
  for (unsigned i = 0; i < kCount; ++i) {
    bytes[i] = static_cast<unsigned char>(i % 251 * (i % 7));
    ++expected[bytes[i]];
  }
  check(values.unmap(queue));
  std::fill_n(take(bins.map(queue)), kBins, 0);
  check(bins.unmap(queue));

  const kiln::Local local = kiln::local(kBins * sizeof(cl_uint));  // for each work-group
  const auto event = take(histogram(queue, {1, {4096}, {64}, {}}, values, kCount, bins, local));
  check(event.wait());

  const cl_uint *counted = take(bins.map(queue));
  const bool right = std::equal(expected.begin(), expected.end(), counted);
  check(bins.unmap(queue));
  std::printf("counted %u bytes: %s\n", kCount, right ? "right" : "wrong");
  return right ? 0 : 1;
}
