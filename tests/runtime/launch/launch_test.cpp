// SPDX-License-Identifier: Apache-2.0
// Kernels, memory and launches against a driver that misbehaves.
#include "tests/runtime/fake/launch_ready.hpp"

#include "kiln/packs/bytes.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE("handles outlive what they were made from", "[launch]") {
  reset_fake();
  kiln_kernel *kernel = nullptr;
  kiln_buffer *buffer = nullptr;
  kiln_queue *queue = nullptr;
  kiln_event *event = nullptr;
  std::shared_ptr<const packs::Bytes> pack;
  {
    const FakeLoad load(written(fake_contents()));
    pack = load.bytes;
    CHECK(kiln_kernel_create(load.program, nullptr, &kernel, nullptr) == KILN_OK);
    CHECK(kiln_buffer_create(load.loader, 8, KILN_ACCESS_READ, &buffer, nullptr) == KILN_OK);
    CHECK(kiln_queue_create(load.loader, nullptr, &queue, nullptr) == KILN_OK);
  }
  const kiln_ndrange range{1, {5, 0, 0}, {4, 0, 0}, {0, 0, 0}};
  CHECK(kiln_kernel_set_buffer(kernel, 0, buffer, nullptr) == KILN_OK);
  CHECK(kiln_launch(queue, kernel, &range, nullptr, 0, &event, nullptr) == KILN_OK);
  CHECK(fake().global == Sizes{8});
  CHECK(fake().local == Sizes{4});
  kiln_queue_release(queue);
  kiln_kernel_release(kernel);
  kiln_buffer_release(buffer);
  CHECK(kiln_event_wait(event, nullptr) == KILN_OK);
  kiln_event_release(event);
  CHECK(fake().live == 0);
}

TEST_CASE("a kernel is made anew when the one that was checked is taken", "[launch]") {
  reset_fake();
  {
    const FakeLoad load(written(fake_contents()));
    kiln_kernel *first = nullptr;
    kiln_kernel *second = nullptr;
    kiln_error error{};
    CHECK(kiln_kernel_create(load.program, "k", &first, &error) == KILN_OK);
    CHECK(kiln_kernel_create(load.program, "k", &second, &error) == KILN_OK);
    CHECK(kiln_kernel_cl(first) != kiln_kernel_cl(second));
    kiln_kernel *none = nullptr;
    CHECK(kiln_kernel_create(load.program, "nope", &none, &error) == KILN_ERROR_NOT_IN_PACK);
    CHECK(error.message == std::string("variant v of p has no kernel nope; it has k"));
    fake().binary.kernel_object = false;
    CHECK(kiln_kernel_create(load.program, "k", &none, &error) == KILN_ERROR_OPENCL);
    CHECK(error.message == std::string("clCreateKernel reported success without a result"));
    kiln_kernel_release(first);
    kiln_kernel_release(second);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("a range that makes no sense is refused", "[launch]") {
  reset_fake();
  Ready r;
  const auto refused = [&](const kiln_ndrange &range, const char *message) {
    kiln_ndrange planned{};
    CHECK(kiln_kernel_plan(r.kernel, &range, &planned, &r.error) == KILN_ERROR_ARGUMENT);
    CHECK(r.error.message == std::string(message));
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, &r.error) ==
          KILN_ERROR_ARGUMENT);
  };
  refused({0, {1, 1, 1}, {}, {}}, "an NDRange has 1 to 3 dimensions, not 0");
  refused({4, {1, 1, 1}, {}, {}}, "an NDRange has 1 to 3 dimensions, not 4");
  refused({2, {3, 0, 1}, {}, {}}, "the NDRange is empty in dimension 1");
  CHECK(fake().global.empty());
}

TEST_CASE("dimensions that are not used are 1 in the plan", "[launch]") {
  reset_fake();
  Ready r;
  kiln_ndrange planned{};
  const kiln_ndrange range{1, {100, 77, 55}, {16, 9, 9}, {0, 0, 0}};
  CHECK(kiln_kernel_plan(r.kernel, &range, &planned, &r.error) == KILN_OK);
  CHECK(Sizes(planned.global, planned.global + 3) == Sizes{112, 1, 1});
  CHECK(Sizes(planned.local, planned.local + 3) == Sizes{16, 1, 1});
}

TEST_CASE("a range has as many dimensions as it says", "[launch]") {
  reset_fake();
  Ready r;
  for (unsigned i = 0; i < 2; ++i) {
    CHECK(kiln_kernel_set_buffer(r.kernel, i, r.buffer, nullptr) == KILN_OK);
  }
  const Sizes sizes = {8, 6, 4};
  for (unsigned dimensions = 1; dimensions <= 3; ++dimensions) {
    CAPTURE(dimensions);
    const kiln_ndrange range{dimensions, {8, 6, 4}, {4, 3, 2}, {0, 0, 0}};
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, &r.error) == KILN_OK);
    CHECK(fake().global == Sizes(sizes.begin(), sizes.begin() + dimensions));
    CHECK(fake().local.size() == dimensions);
  }
}

TEST_CASE("a wrong argument is named by its index", "[launch]") {
  reset_fake();
  Ready r;
  const int value = 1;
  CHECK(kiln_kernel_set_value(r.kernel, 7, &value, 4, &r.error) == KILN_ERROR_OPENCL);
  CHECK(r.error.cl_error == CL_INVALID_ARG_INDEX);
  CHECK(r.error.message ==
        std::string("argument 7: clSetKernelArg returned CL_INVALID_ARG_INDEX (-49)"));
  CHECK(kiln_kernel_set_image(r.kernel, 1, r.image, &r.error) == KILN_OK);
}

TEST_CASE("memory is mapped once and unmapped once", "[launch]") {
  reset_fake();
  Ready r;
  void *address = nullptr;
  CHECK(kiln_buffer_unmap(r.queue, r.buffer, &r.error) == KILN_ERROR_ARGUMENT);
  CHECK(r.error.message == std::string("the memory is not mapped"));
  CHECK(kiln_buffer_map(r.queue, r.buffer, &address, &r.error) == KILN_OK);
  CHECK(address != nullptr);
  CHECK(kiln_buffer_map(r.queue, r.buffer, &address, &r.error) == KILN_ERROR_ARGUMENT);
  CHECK(r.error.message == std::string("the memory is mapped already"));
  CHECK(kiln_buffer_unmap(r.queue, r.buffer, &r.error) == KILN_OK);
  std::size_t pitch = 0;
  CHECK(kiln_image_map(r.queue, r.image, &address, &pitch, &r.error) == KILN_OK);
  CHECK(pitch == 16);
  CHECK(kiln_image_unmap(r.queue, r.image, &r.error) == KILN_OK);
}

TEST_CASE("a map that fails leaves the memory unmapped, whatever the driver hands out",
          "[launch]") {
  reset_fake();
  Ready r;
  void *address = nullptr;
  std::size_t pitch = 0;
  fake().map_code = CL_MAP_FAILURE;  // together with an address
  CHECK(kiln_buffer_map(r.queue, r.buffer, &address, &r.error) == KILN_ERROR_OPENCL);
  CHECK(r.error.message == std::string("clEnqueueMapBuffer returned CL_MAP_FAILURE (-12)"));
  CHECK(kiln_image_map(r.queue, r.image, &address, &pitch, &r.error) == KILN_ERROR_OPENCL);
  fake().map_code = CL_SUCCESS;
  fake().map_address = false;
  CHECK(kiln_buffer_map(r.queue, r.buffer, &address, &r.error) == KILN_ERROR_OPENCL);
  CHECK(r.error.message == std::string("clEnqueueMapBuffer reported success without a result"));
  CHECK(kiln_image_map(r.queue, r.image, &address, &pitch, &r.error) == KILN_ERROR_OPENCL);
  CHECK(address == nullptr);
  CHECK(pitch == 0);
  fake().map_address = true;
  CHECK(kiln_buffer_map(r.queue, r.buffer, &address, &r.error) == KILN_OK);
}

TEST_CASE("a launch that the driver refuses makes no event", "[launch]") {
  reset_fake();
  {
    Ready r;
    kiln_event *event = nullptr;
    const kiln_ndrange range{1, {4, 0, 0}, {}, {}};
    fake().launch_code = CL_INVALID_KERNEL_ARGS;
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &event, &r.error) ==
          KILN_ERROR_OPENCL);
    CHECK(r.error.message ==
          std::string("clEnqueueNDRangeKernel returned CL_INVALID_KERNEL_ARGS (-52)"));
    fake().launch_code = CL_SUCCESS;
    fake().event_object = false;
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &event, &r.error) ==
          KILN_ERROR_OPENCL);
    CHECK(event == nullptr);
    fake().event_object = true;
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, &r.error) == KILN_OK);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("images have 1, 2 or 4 channels", "[launch]") {
  reset_fake();
  Ready r;
  for (const unsigned channels : {0u, 3u, 5u, 0xffffffffu}) {
    kiln_image *image = nullptr;
    CHECK(kiln_image_create(r.load.loader, 4, 4, channels, KILN_ACCESS_READ, &image, &r.error) ==
          KILN_ERROR_ARGUMENT);
    CHECK(r.error.message == "an image has 1, 2 or 4 channels, not " + std::to_string(channels));
  }
}

TEST_CASE("device info is there by name, or absent", "[launch]") {
  reset_fake();
  kiln_device *device = fake_device();
  CHECK(kiln_device_info(device, "device_name") == std::string("Fake device"));
  CHECK(kiln_device_info(device, "profile") == std::string("generic"));
  CHECK(kiln_device_info(device, "model") == std::string("Fake device"));
  CHECK(kiln_device_info(device, "family") == nullptr);
  CHECK(kiln_device_info(device, "device_vendor") == nullptr);  // the driver does not answer
  CHECK(kiln_device_info(device, "nonsense") == nullptr);
  CHECK(std::string(kiln_device_info(device, "key")).find("profile=generic\n") == 0);
  kiln_device_release(device);
}

TEST_CASE("a range is not padded where device and options allow non-uniform work-groups",
          "[launch]") {
  reset_fake();
  const kiln_ndrange range{1, {13, 0, 0}, {}, {}};
  const auto launched = [&](const packs::Contents &contents) {
    Ready r(contents);
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, &r.error) == KILN_OK);
    CHECK(fake().local == Sizes{8});
    kiln_ndrange planned{};
    CHECK(kiln_kernel_plan(r.kernel, &range, &planned, &r.error) == KILN_OK);
    CHECK(planned.global[0] == fake().global[0]);
    return fake().global;
  };
  CHECK(launched(non_uniform_contents()) == Sizes{16});
  fake().non_uniform_work_groups = true;
  CHECK(launched(non_uniform_contents()) == Sizes{13});
  packs::Contents old = non_uniform_contents();
  old.programs[0].variants[0].options = "-cl-std=CL1.2";
  CHECK(launched(old) == Sizes{16});
  fake().device_version = "OpenCL 2.0 fake";  // where all devices can
  fake().non_uniform_work_groups = false;
  CHECK(launched(non_uniform_contents()) == Sizes{13});
  fake().device_version = "OpenCL 1.2 fake";
  CHECK(launched(non_uniform_contents()) == Sizes{16});
}

TEST_CASE("a driver that refuses non-uniform work-groups gets whole ones from then on",
          "[launch]") {
  reset_fake();
  fake().non_uniform_work_groups = true;
  fake().refuses_non_uniform_work_groups = true;
  Ready r(non_uniform_contents());
  const kiln_ndrange range{1, {13, 0, 0}, {}, {}};
  kiln_ndrange planned{};
  CHECK(kiln_kernel_plan(r.kernel, &range, &planned, &r.error) == KILN_OK);
  CHECK(planned.global[0] == 13);
  CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, &r.error) == KILN_OK);
  CHECK(fake().global == Sizes{16});
  CHECK(kiln_kernel_plan(r.kernel, &range, &planned, &r.error) == KILN_OK);
  CHECK(planned.global[0] == 16);
}

TEST_CASE("the size that is stored for the range's class is taken, and clamped", "[launch]") {
  reset_fake();
  Ready r;
  r.kernel->kernel.stored_local_sizes = {{{4, 1, 1}, {16, 1, 1}, {1024, 1, 1}}};
  const auto local = [&](std::size_t items) {
    const kiln_ndrange range{1, {items, 0, 0}, {}, {}};
    kiln_ndrange planned{};
    CHECK(kiln_kernel_plan(r.kernel, &range, &planned, &r.error) == KILN_OK);
    return planned.local[0];
  };
  CHECK(local(65'535) == 4);
  CHECK(local(65'536) == 16);
  CHECK(local(1'048'576) == 64);  // what the fake allows
}

TEST_CASE("a launch uses the size that was measured for its class, clamped", "[launch]") {
  reset_fake();
  fake().work_group_size = 64;
  packs::Contents contents = fake_contents();
  const std::string &key = contents.targets[0].key;
  packs::Tuning tuned;
  tuned.program = "p";
  tuned.variant = "v";
  tuned.kernel = "k";
  tuned.size_class = packs::SizeClass::medium;
  tuned.key_hash = packs::xxh3(key.data(), key.size());
  tuned.profile = "generic";
  tuned.local_size = {16, 2, 1};
  tuned.samples = 9;
  packs::Tuning large = tuned;
  large.size_class = packs::SizeClass::large;
  large.local_size = {256, 1, 1};  // of a driver that allowed more
  contents.tunings = {tuned, large};
  contents.programs[0].variants[0].local_size = {8, 8, 1};
  const FakeLoad load(written(contents));
  kiln_kernel *kernel = nullptr;
  REQUIRE(kiln_kernel_create(load.program, "k", &kernel, nullptr) == KILN_OK);
  const auto local = [&](std::size_t width, std::size_t height) {
    const kiln_ndrange range{2, {width, height, 0}, {0, 0, 0}, {0, 0, 0}};
    kiln_ndrange planned{};
    CHECK(kiln_kernel_plan(kernel, &range, &planned, nullptr) == KILN_OK);
    return Sizes{planned.local[0], planned.local[1]};
  };
  CHECK(local(100, 100) == Sizes{8, 8});  // nothing was measured: the variant's own
  CHECK(local(512, 512) == Sizes{16, 2});
  CHECK(local(2048, 2048) == Sizes{64, 1});
  kiln_kernel_release(kernel);
}

TEST_CASE("a launch can tell where its work-group size comes from", "[launch]") {
  reset_fake();
  packs::Contents contents = fake_contents();
  const std::string key = contents.targets[0].key;
  contents.programs[0].variants[0].local_size = {8, 1, 1};
  const auto stored = [&](packs::SizeClass size_class, const char *profile, const char *model,
                          std::uint64_t key_hash) {
    packs::Tuning &tuning = contents.tunings.emplace_back();
    tuning.program = "p";
    tuning.variant = "v";
    tuning.kernel = "k";
    tuning.size_class = size_class;
    tuning.profile = profile;
    tuning.model = model;
    tuning.key_hash = key_hash;
  };
  const auto source = [&](std::size_t width, std::size_t local = 0, std::size_t required = 0) {
    const Ready r(contents);
    r.kernel->kernel.limits.required[0] = required;
    const kiln_ndrange range{1, {width, 0, 0}, {local, 0, 0}, {0, 0, 0}};
    kiln_local_source from{};
    CHECK(kiln_kernel_local_source(r.kernel, &range, &from, nullptr) == KILN_OK);
    return from;
  };
  CHECK(source(10) == KILN_LOCAL_VARIANT);
  CHECK(source(10, 4) == KILN_LOCAL_RANGE);
  CHECK(source(10, 4, 2) == KILN_LOCAL_KERNEL);
  CHECK(source(10, 0, 2) == KILN_LOCAL_KERNEL);
  stored(packs::SizeClass::small, "", "", 0);
  CHECK(source(10) == KILN_LOCAL_DEFAULT);
  CHECK(source(100'000) == KILN_LOCAL_VARIANT);
  stored(packs::SizeClass::small, "generic", "Fake device", 5);
  CHECK(source(10) == KILN_LOCAL_MODEL);
  stored(packs::SizeClass::small, "generic", "Fake device", packs::xxh3(key.data(), key.size()));
  CHECK(source(10) == KILN_LOCAL_DEVICE);
  CHECK(source(100'000) == KILN_LOCAL_VARIANT);
  contents.programs[0].variants[0].local_size = {0, 0, 0};
  CHECK(source(100'000) == KILN_LOCAL_GUESS);
}

TEST_CASE("a range that cannot be launched has no work-group size", "[launch]") {
  reset_fake();
  const Ready r;
  const kiln_ndrange range{1, {0, 0, 0}, {}, {}};
  kiln_local_source from = KILN_LOCAL_VENDOR;
  CHECK(kiln_kernel_local_source(r.kernel, &range, &from, nullptr) == KILN_ERROR_ARGUMENT);
  CHECK(from == KILN_LOCAL_VENDOR);
}
