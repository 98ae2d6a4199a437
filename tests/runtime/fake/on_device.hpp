// SPDX-License-Identifier: Apache-2.0
// The first device that there is, for tests of the runtime on real drivers. Says SKIP and exits
// with 77 where there is none.
#pragma once

#include <string>

#include "kiln/kiln.hpp"
#include "tests/support/catch.hpp"

namespace kiln::test {

inline const char *const kPack = KILN_SOURCE_DIR "/tests/runtime/runtime.kiln";
inline constexpr unsigned kSourceOnly = KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL;

// Any other error is a fault of Kiln or of the driver.
inline void skip_without_device(const kiln_error &error) {
  if (error.status == KILN_ERROR_NO_OPENCL || error.status == KILN_ERROR_NO_DEVICE) {
    skip_all(error.message);
  }
  FAIL(error.message);
}

inline Device &device() {
  static Device opened = [] {
    auto opencl = OpenCL::open();
    if (!opencl) skip_without_device(opencl.error());
    auto first = opencl->device(0);
    if (!first) skip_without_device(first.error());
    return std::move(*first);
  }();
  return opened;
}

template <typename T>
T take(Result<T> result) {
  INFO(result.error().message);
  REQUIRE(result);
  return std::move(*result);
}

inline void require(const Status &status) {
  INFO(status.message);
  REQUIRE(status);
}

inline Loader loader_for(const std::string &path) {
  return take(Loader::create(device(), take(Pack::open_file(path))));
}

}  // namespace kiln::test
