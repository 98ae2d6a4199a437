// SPDX-License-Identifier: Apache-2.0
// What a launch needs, made through the C API on the fake driver.
#pragma once

#include "tests/runtime/fake/load.hpp"

namespace kiln::test {

// A kernel, a queue and memory of a healthy fake; released in an order that no one would
// choose, before the load that they were made from.
struct Ready {
  Ready() : Ready(fake_contents()) {}
  explicit Ready(const packs::Contents &contents) : load(written(contents)) {
    CHECK(kiln_kernel_create(load.program, "k", &kernel, &error) == KILN_OK);
    CHECK(kiln_queue_create(load.loader, nullptr, &queue, &error) == KILN_OK);
    CHECK(kiln_buffer_create(load.loader, 64, KILN_ACCESS_BOTH, &buffer, &error) == KILN_OK);
    CHECK(kiln_image_create(load.loader, 4, 2, 4, KILN_ACCESS_BOTH, &image, &error) == KILN_OK);
  }
  Ready(const Ready &) = delete;
  Ready &operator=(const Ready &) = delete;
  ~Ready() {
    kiln_queue_release(queue);
    kiln_image_release(image);
    kiln_kernel_release(kernel);
    kiln_buffer_release(buffer);
  }

  std::string message() const { return error.message; }

  FakeLoad load;
  kiln_error error{};
  kiln_kernel *kernel = nullptr;
  kiln_queue *queue = nullptr;
  kiln_buffer *buffer = nullptr;
  kiln_image *image = nullptr;
};

// The fake's contents for programs in OpenCL C 2.0 with a stored local size.
inline packs::Contents non_uniform_contents() {
  packs::Contents contents = fake_contents();
  packs::Variant &variant = contents.programs[0].variants[0];
  variant.options = "-cl-std=CL2.0";
  variant.local_size = {8, 1, 1};
  return contents;
}

using Sizes = std::vector<std::size_t>;

}  // namespace kiln::test
