// SPDX-License-Identifier: Apache-2.0
// What tells that a driver was replaced: its library, and the libraries that it needs beside it.
#include "runtime/overlay/driver_number.hpp"

#include <dlfcn.h>

#include "tests/runtime/fake/load.hpp"

using namespace kiln;
using namespace kiln::test;
namespace fs = std::filesystem;

extern "C" const char kiln_pixel_library[];

TEST_CASE("a driver's number changes with its files, and with no others", "[overlay]") {
  reset_fake();
  const TemporaryFolder folder;
  const fs::path library = folder.path() / "drivers" / "libdriver.so";
  fs::create_directory(library.parent_path());
  fs::copy_file(kiln_pixel_library, library);
  void *opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(opened != nullptr);
  auto table = std::make_shared<runtime::OpenCL>(*fake_table());
  table->clGetExtensionFunctionAddressForPlatform = [](cl_platform_id, const char *) -> void * {
    return nullptr;
  };
  void *const function = dlsym(opened, "loadOpenCLPointer");
  REQUIRE(function != nullptr);
  table->clBuildProgram = reinterpret_cast<decltype(table->clBuildProgram)>(function);
  kiln_device *of_fake = fake_device();
  runtime::Device device = *of_fake->device;
  device.cl = table;
  std::vector<std::uint64_t> numbers = {runtime::driver_number(device)};
  const auto is_new = [&] {
    CHECK(runtime::driver_number(device) == runtime::driver_number(device));
    const std::uint64_t number = runtime::driver_number(device);
    const bool was_there = std::count(numbers.begin(), numbers.end(), number) != 0;
    numbers.push_back(number);
    return !was_there;
  };
  folder.write("drivers/libother.so", "not needed");
  CHECK_FALSE(is_new());
  folder.write("drivers/libc.so.6", "needed");  // by this name
  CHECK(is_new());
  folder.write("drivers/libc.so.6", "and longer");
  CHECK(is_new());
  folder.write("libc.so.6", "needed, in the folder above");
  CHECK(is_new());
  const auto time = fs::last_write_time(library);
  fs::last_write_time(library, time + std::chrono::hours(1));
  CHECK(is_new());
  device.identity.set(runtime::Field::driver_version, "7.2");
  CHECK(is_new());
  kiln_device_release(of_fake);
}
