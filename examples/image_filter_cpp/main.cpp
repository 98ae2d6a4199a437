// SPDX-License-Identifier: Apache-2.0
// Sharpens an image on the first OpenCL device, by a kernel from the pack inside this program.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <kiln/kiln.hpp>
#include <vector>

#include "kernels.h"  // kiln_add_pack() writes it, with the pack,
#include "stubs.hpp"  // and this, with the kernels' parameters

namespace {

constexpr int kWidth = 640;
constexpr int kHeight = 480;
constexpr std::size_t kSize = kWidth * kHeight;

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

int sharpened(const std::vector<unsigned char> &image, int x, int y) {
  const auto pixel = [&](int column, int row) {
    return int{image[std::clamp(row, 0, kHeight - 1) * kWidth + std::clamp(column, 0, kWidth - 1)]};
  };
  const int around = pixel(x - 1, y) + pixel(x + 1, y) + pixel(x, y - 1) + pixel(x, y + 1);
  return std::clamp(5 * pixel(x, y) - around, 0, 255);
}

}  // namespace

int main() {
  const auto opencl = take(kiln::OpenCL::open());
  const auto device = take(opencl.device(0));
  const auto pack = take(kiln::Pack::open_memory(kernels_data, kernels_size));
  const auto loader = take(kiln::Loader::create(device, pack));
  kiln::TypedLoad loaded = kernels::sharpen::load(loader, kiln::IfStale::fail);
  std::puts(loaded.report.json().c_str());  // what was loaded, and why nothing better
  const auto sharpen = take(kernels::sharpen::sharpen::create(take(std::move(loaded.program))));
  const auto queue = take(kiln::Queue::create(loader));
  const auto source = take(kiln::BufferOf<cl_uchar>::create(loader, kSize, KILN_ACCESS_READ));
  const auto result = take(kiln::BufferOf<cl_uchar>::create(loader, kSize, KILN_ACCESS_WRITE));

  std::vector<unsigned char> image(kSize);
  for (std::size_t i = 0; i < kSize; ++i) image[i] = static_cast<unsigned char>(i * i / kWidth);
  std::copy(image.begin(), image.end(), take(source.map(queue)));
  check(source.unmap(queue));

  // Arguments of other types, or another number of them, do not compile.
  const kiln_ndrange range = {2, {kWidth, kHeight}, {}, {}};
  const auto event = take(sharpen(queue, range, source, result, kWidth, kHeight));
  check(event.wait());

  const auto *pixels = take(result.map(queue));
  int wrong = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) wrong += pixels[y * kWidth + x] != sharpened(image, x, y);
  }
  check(result.unmap(queue));
  std::printf("sharpened %dx%d pixels, %d wrong\n", kWidth, kHeight, wrong);
  return wrong != 0;
}
