// SPDX-License-Identifier: Apache-2.0
// Launches by a header of `kiln stubs`; prints what the kernel computed. Exit code 77: no device.
#include <cstdio>

#include "kernels.hpp"

namespace image = kernels::image;

int main(int argc, char **argv) {
  auto opencl = kiln::OpenCL::open();
  if (argc != 2 || !opencl) return 77;
  auto device = opencl->device(0);
  if (!device) return 77;
  auto pack = kiln::Pack::open_file(argv[1]);
  if (!pack) return 1;
  auto loader = kiln::Loader::create(*device, *pack);
  auto loaded = image::load(*loader, kiln::IfStale::fail);
  if (!loaded.program) {
    std::printf("%s\n", loaded.program.error().message);
    return 1;
  }
  auto scale = image::scale::create(*loaded.program);
  auto queue = kiln::Queue::create(*loader);
  auto values = kiln::BufferOf<float>::create(*loader, 4, KILN_ACCESS_BOTH);
  auto address = values->map(*queue);
  for (int i = 0; i < 4; ++i) (*address)[i] = static_cast<float>(i);
  if (!values->unmap(*queue)) return 1;
  auto event = (*scale)(*queue, {1, {4, 0, 0}, {}, {}}, *values, 2.5f, 4);
  if (!event || !event->wait()) return 1;
  address = values->map(*queue);
  std::printf("%g %g %g %g\n", (*address)[0], (*address)[1], (*address)[2], (*address)[3]);
  return 0;
}
