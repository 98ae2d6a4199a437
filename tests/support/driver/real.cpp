// SPDX-License-Identifier: Apache-2.0
// The real driver, opened as an ICD loader would, but never through one: the loader of this
// process leads here.
#include <cstring>

#include <dlfcn.h>

#include "tests/support/driver/objects.hpp"

namespace kiln::driver {
namespace {

using GetPlatforms = cl_int(CL_API_CALL *)(cl_uint, cl_platform_id *, cl_uint *);
using GetAddress = void *(CL_API_CALL *)(const char *);

template <typename Function>
Function as_function(void *address) {
  Function function;
  std::memcpy(&function, &address, sizeof(function));
  return function;
}

bool needed() {
  for (const PlatformScript &platform : script().platforms) {
    for (const DeviceScript &device : platform.devices) {
      if (device.forward) return true;
    }
  }
  return false;
}

cl_platform_id first_platform(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) stop(std::string("real: ") + dlerror());
  void *address = dlsym(handle, "clIcdGetPlatformIDsKHR");
  const auto get = as_function<GetAddress>(dlsym(handle, "clGetExtensionFunctionAddress"));
  if (address == nullptr && get != nullptr) address = get("clIcdGetPlatformIDsKHR");
  if (address == nullptr) stop("real: " + library + " is no ICD");
  cl_platform_id platform = nullptr;
  if (as_function<GetPlatforms>(address)(1, &platform, nullptr) != CL_SUCCESS) {
    stop("real: " + library + " has no platform");
  }
  return platform;
}

Real *load() {
  if (!needed()) return nullptr;
  auto *real = new Real{};
  real->platform = first_platform(script().real);
  real->table = *reinterpret_cast<const cl_icd_dispatch **>(real->platform);
  cl_uint count = 0;
  real->table->clGetDeviceIDs(real->platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  real->devices.resize(count);
  real->table->clGetDeviceIDs(real->platform, CL_DEVICE_TYPE_ALL, count, real->devices.data(),
                              nullptr);
  return real;
}

}  // namespace

const Real *real_driver() {
  static const Real *const loaded = load();
  return loaded;
}

}  // namespace kiln::driver
