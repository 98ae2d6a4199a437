// SPDX-License-Identifier: Apache-2.0
// Has this device compile what a pack has no binary for, and keeps the binaries in an overlay:
//
//     phone PACK OVERLAY
//
// A program for a shell, linked with kiln::runtime alone. Exit code 1: some programs cannot be
// loaded, 2: there is nothing to load with.
#include <kiln/kiln.hpp>

#include <cstdio>

namespace {

int fail(const kiln_error &error) {
  std::fprintf(stderr, "phone: %s\n", error.message);
  return 2;
}

// Counts what cannot be loaded.
int print_progress(const kiln_progress *progress, void *failed) {
  const bool loaded = progress->status == KILN_OK;
  std::printf("%zu/%zu %s%s\n", progress->done, progress->total, progress->program,
              loaded ? "" : ": cannot be loaded");
  if (!loaded) ++*static_cast<int *>(failed);
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fputs("usage: phone PACK OVERLAY\n", stderr);
    return 2;
  }
  const auto opencl = kiln::OpenCL::open();
  if (!opencl) return fail(opencl.error());
  const auto device = opencl->device(0);
  if (!device) return fail(device.error());
  const auto pack = kiln::Pack::open_file(argv[1]);
  if (!pack) return fail(pack.error());
  kiln::LoaderOptions options;
  options.use_overlay(argv[2]);
  const auto loader = kiln::Loader::create(*device, *pack, options);
  if (!loader) return fail(loader.error());
  int failed = 0;
  if (const auto status = loader->prefetch(print_progress, &failed); !status) return fail(status);
  if (const auto status = loader->finish(); !status) return fail(status);
  return failed == 0 ? 0 : 1;
}
