// SPDX-License-Identifier: Apache-2.0
// Buffers and images: flags, the host's memory, the application's memory, and faults.
#include "tests/runtime/fake/launch_ready.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

alignas(4096) unsigned char host_memory[8192];

}  // namespace

TEST_CASE("memory of a device that shares the host's is made there and copies nothing",
          "[memory]") {
  for (const bool unified : {false, true}) {
    reset_fake();
    fake().unified_memory = unified;
    const Ready r;
    kiln_buffer *buffer = nullptr;
    CHECK(kiln_buffer_create(r.load.loader, 4, KILN_ACCESS_READ, &buffer, nullptr) == KILN_OK);
    CHECK(((fake().memory_flags & CL_MEM_ALLOC_HOST_PTR) != 0) == unified);
    CHECK((fake().memory_flags & CL_MEM_READ_ONLY) != 0);
    CHECK(kiln_buffer_zero_copy(buffer) == (unified ? 1 : 0));
    kiln_buffer_release(buffer);
  }
}

TEST_CASE("a buffer over the host's memory maps to it", "[memory]") {
  reset_fake();
  fake().unified_memory = true;
  Ready r;
  kiln_buffer *buffer = nullptr;
  void *address = nullptr;
  CHECK(kiln_buffer_from_host(r.load.loader, host_memory, 8192, KILN_ACCESS_BOTH, &buffer,
                              &r.error) == KILN_OK);
  CHECK(fake().memory_flags == (CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR));
  CHECK(fake().imported == nullptr);
  CHECK(kiln_buffer_zero_copy(buffer) == 1);
  CHECK(kiln_buffer_map(r.queue, buffer, &address, &r.error) == KILN_OK);
  CHECK(address == host_memory);
  kiln_buffer_release(buffer);
}

TEST_CASE("the host's memory is imported where the device can, else used as it is", "[memory]") {
  reset_fake();
  fake().extensions = "cl_arm_import_memory cl_arm_import_memory_host";
  {
    Ready r;
    kiln_buffer *buffer = nullptr;
    const auto make = [&] {
      kiln_buffer_release(buffer);
      CHECK(kiln_buffer_from_host(r.load.loader, host_memory, 64, KILN_ACCESS_READ, &buffer,
                                  &r.error) == KILN_OK);
    };
    make();
    CHECK(fake().imported == host_memory);
    CHECK(fake().memory_flags == CL_MEM_READ_ONLY);
    CHECK(kiln_buffer_zero_copy(buffer) == 1);
    fake().import_code = CL_INVALID_OPERATION;  // together with a buffer
    make();
    CHECK((fake().memory_flags & CL_MEM_USE_HOST_PTR) != 0);
    CHECK(kiln_buffer_zero_copy(buffer) == 0);
    fake().recording_functions = false;
    make();
    CHECK((fake().memory_flags & CL_MEM_USE_HOST_PTR) != 0);
    kiln_buffer_release(buffer);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("host memory that breaks the rules of alignment and size is refused", "[memory]") {
  reset_fake();
  Ready r;
  kiln_buffer *buffer = nullptr;
  const auto refused = [&](std::size_t offset, std::size_t size) {
    CHECK(kiln_buffer_from_host(r.load.loader, host_memory + offset, size, KILN_ACCESS_BOTH,
                                &buffer, &r.error) == KILN_ERROR_ARGUMENT);
    CHECK(r.message() ==
          "the memory's address must be a multiple of 4096 and its size of 64 and not 0");
  };
  refused(0, 0);
  refused(0, 63);
  refused(0, 100);
  refused(64, 64);
  refused(1, 64);
  CHECK(buffer == nullptr);
}

TEST_CASE("memory of the application's is retained, if it is of the context and the kind",
          "[memory]") {
  reset_fake();
  {
    Ready r;
    kiln_buffer *buffer = nullptr;
    kiln_image *image = nullptr;
    kiln_error &e = r.error;
    const cl_mem bytes = kiln_buffer_cl(r.buffer);
    const cl_mem pixels = kiln_image_cl(r.image);
    CHECK(kiln_buffer_from_cl(r.load.loader, pixels, KILN_ACCESS_BOTH, &buffer, &e) ==
          KILN_ERROR_ARGUMENT);
    CHECK(r.message() == "the cl_mem is not a buffer");
    CHECK(kiln_image_from_cl(r.load.loader, bytes, KILN_ACCESS_BOTH, &image, &e) ==
          KILN_ERROR_ARGUMENT);
    CHECK(r.message() == "the cl_mem is not an image");
    fake().memory_context = &r;
    CHECK(kiln_buffer_from_cl(r.load.loader, bytes, KILN_ACCESS_BOTH, &buffer, &e) ==
          KILN_ERROR_ARGUMENT);
    CHECK(r.message() == "the cl_mem is of another context");
    fake().memory_context = nullptr;
    CHECK(kiln_buffer_from_cl(r.load.loader, bytes, KILN_ACCESS_BOTH, &buffer, &e) == KILN_OK);
    CHECK(kiln_image_from_cl(r.load.loader, pixels, KILN_ACCESS_BOTH, &image, &e) == KILN_OK);
    CHECK(kiln_buffer_cl(buffer) == bytes);
    CHECK(kiln_image_cl(image) == pixels);
    CHECK(kiln_buffer_zero_copy(buffer) == 0);
    kiln_buffer_release(r.buffer);
    kiln_image_release(r.image);
    r.buffer = nullptr;
    r.image = nullptr;
    void *address = nullptr;
    std::size_t pitch = 0;
    CHECK(kiln_buffer_map(r.queue, buffer, &address, &e) == KILN_OK);
    CHECK(kiln_image_map(r.queue, image, &address, &pitch, &e) == KILN_OK);
    CHECK(pitch == 16);
    kiln_buffer_release(buffer);
    kiln_image_release(image);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("an image that is not 2D is passed, and not mapped", "[memory]") {
  reset_fake();
  Ready r;
  const cl_mem pixels = kiln_image_cl(r.image);
  const auto kind = [&](cl_mem_object_type type) -> std::string {
    fake().memory_type = type;
    kiln_image *image = nullptr;
    if (kiln_image_from_cl(r.load.loader, pixels, KILN_ACCESS_BOTH, &image, &r.error) != KILN_OK) {
      return r.message();
    }
    std::string name = image->memory.image;
    kiln_image_release(image);
    return name;
  };
  CHECK(kind(CL_MEM_OBJECT_IMAGE1D) == "image1d_t");
  CHECK(kind(CL_MEM_OBJECT_IMAGE1D_ARRAY) == "image1d_array_t");
  CHECK(kind(CL_MEM_OBJECT_IMAGE1D_BUFFER) == "image1d_buffer_t");
  CHECK(kind(CL_MEM_OBJECT_IMAGE2D) == "image2d_t");
  CHECK(kind(CL_MEM_OBJECT_IMAGE2D_ARRAY) == "image2d_array_t");
  CHECK(kind(CL_MEM_OBJECT_IMAGE3D) == "image3d_t");
  CHECK(kind(CL_MEM_OBJECT_PIPE) == "the cl_mem is not an image");
  fake().image_order = CL_DEPTH;
  CHECK(kind(CL_MEM_OBJECT_IMAGE2D) == "image2d_depth_t");
  CHECK(kind(CL_MEM_OBJECT_IMAGE2D_ARRAY) == "image2d_array_depth_t");
  fake().image_samples = 4;
  CHECK(kind(CL_MEM_OBJECT_IMAGE2D_ARRAY) == "image2d_array_msaa_depth_t");
  fake().image_samples = 0;
  fake().image_order = CL_RGBA;
  fake().memory_type = CL_MEM_OBJECT_IMAGE3D;
  kiln_image *volume = nullptr;
  CHECK(kiln_image_from_cl(r.load.loader, pixels, KILN_ACCESS_BOTH, &volume, &r.error) == KILN_OK);
  void *address = nullptr;
  std::size_t pitch = 0;
  CHECK(kiln_image_map(r.queue, volume, &address, &pitch, &r.error) == KILN_ERROR_ARGUMENT);
  CHECK(r.message() == "Kiln maps no image3d_t");
  kiln_image_release(volume);
}

TEST_CASE("memory that comes together with an error is released", "[memory]") {
  reset_fake();
  {
    Ready r;
    kiln_buffer *buffer = nullptr;
    kiln_image *image = nullptr;
    fake().memory_code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    CHECK(kiln_buffer_create(r.load.loader, 4, KILN_ACCESS_BOTH, &buffer, &r.error) ==
          KILN_ERROR_OPENCL);
    CHECK(r.message() == "clCreateBuffer returned CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)");
    CHECK(kiln_buffer_from_host(r.load.loader, host_memory, 64, KILN_ACCESS_BOTH, &buffer,
                                &r.error) == KILN_ERROR_OPENCL);
    CHECK(kiln_image_create(r.load.loader, 4, 4, 1, KILN_ACCESS_BOTH, &image, &r.error) ==
          KILN_ERROR_OPENCL);
    fake().memory_code = CL_SUCCESS;
    fake().memory_object = false;
    CHECK(kiln_buffer_create(r.load.loader, 4, KILN_ACCESS_BOTH, &buffer, &r.error) ==
          KILN_ERROR_OPENCL);
    CHECK(r.message() == "clCreateBuffer reported success without a result");
    CHECK(kiln_buffer_create(r.load.loader, 0, KILN_ACCESS_BOTH, &buffer, &r.error) ==
          KILN_ERROR_ARGUMENT);
    CHECK(r.message() == "a buffer has at least 1 byte");
  }
  CHECK(fake().live == 0);
}
