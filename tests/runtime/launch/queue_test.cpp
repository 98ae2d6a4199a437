// SPDX-License-Identifier: Apache-2.0
// Queues and contexts with hints, events in and out, mapping without waiting.
#include <array>
#include <cstring>

#include "runtime/device/device.hpp"
#include "tests/runtime/fake/launch_ready.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

// A queue of a new load with these options; what the driver was asked for is in fake().
unsigned hints_of(const kiln_queue_options &options) {
  const FakeLoad load(written(fake_contents()));
  kiln_queue *queue = nullptr;
  kiln_error error{};
  CHECK(kiln_queue_create(load.loader, &options, &queue, &error) == KILN_OK);
  const unsigned hints = kiln_queue_hints(queue);
  kiln_queue_release(queue);
  return hints;
}

kiln_queue_options options(unsigned flags = 0, kiln_level priority = KILN_LEVEL_DEFAULT,
                           kiln_level throttle = KILN_LEVEL_DEFAULT) {
  return {sizeof(kiln_queue_options), flags, priority, throttle, 0};
}

// With a number in the place of a level, as a C program can pass it.
kiln_queue_options with_number(std::size_t place, int number) {
  kiln_queue_options made = options();
  std::memcpy(reinterpret_cast<char *>(&made) + place, &number, sizeof(number));
  return made;
}

using Bits = std::vector<cl_bitfield>;

const char *const kHintExtensions = "cl_khr_priority_hints cl_khr_throttle_hints";

}  // namespace

TEST_CASE("a queue is in order with profiling unless asked otherwise", "[queue]") {
  reset_fake();
  CHECK(hints_of(options()) == 0);
  CHECK(fake().queue_properties == CL_QUEUE_PROFILING_ENABLE);
  CHECK(hints_of(options(KILN_QUEUE_NO_PROFILING)) == 0);
  CHECK(fake().queue_properties == 0);
  CHECK(hints_of(options(KILN_QUEUE_OUT_OF_ORDER)) == KILN_HINT_OUT_OF_ORDER);
  CHECK(fake().queue_properties ==
        (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
  CHECK(fake().live == 0);
}

TEST_CASE("hints of a queue are passed where the device has the extension", "[queue]") {
  reset_fake();
  CHECK(hints_of(options(0, KILN_LEVEL_HIGH, KILN_LEVEL_LOW)) == 0);
  CHECK(fake().queue_hints.empty());
  fake().extensions = kHintExtensions;
  CHECK(hints_of(options()) == 0);
  CHECK(fake().queue_hints.empty());
  CHECK(hints_of(options(0, KILN_LEVEL_HIGH, KILN_LEVEL_LOW)) ==
        (KILN_HINT_PRIORITY | KILN_HINT_THROTTLE));
  CHECK(fake().queue_properties == CL_QUEUE_PROFILING_ENABLE);
  CHECK(fake().queue_hints == Bits{CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_HIGH_KHR,
                                   CL_QUEUE_THROTTLE_KHR, CL_QUEUE_THROTTLE_LOW_KHR});
  CHECK(hints_of(options(0, KILN_LEVEL_MEDIUM)) == KILN_HINT_PRIORITY);
  CHECK(fake().queue_hints == Bits{CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_MED_KHR});
  fake().device_version = "OpenCL 1.2 fake";  // has no function that takes hints
  CHECK(hints_of(options(0, KILN_LEVEL_HIGH)) == 0);
}

TEST_CASE("what the driver refuses of a queue is left out, and nothing leaks", "[queue]") {
  reset_fake();
  fake().extensions = kHintExtensions;
  fake().queue_hints_code = CL_INVALID_QUEUE_PROPERTIES;  // together with a queue
  CHECK(hints_of(options(KILN_QUEUE_OUT_OF_ORDER, KILN_LEVEL_HIGH)) == KILN_HINT_OUT_OF_ORDER);
  fake().queue_unordered_code = CL_INVALID_QUEUE_PROPERTIES;
  CHECK(hints_of(options(KILN_QUEUE_OUT_OF_ORDER, KILN_LEVEL_HIGH)) == 0);
  CHECK(fake().queue_properties == CL_QUEUE_PROFILING_ENABLE);
  fake().queue_code = CL_OUT_OF_HOST_MEMORY;
  {
    const FakeLoad load(written(fake_contents()));
    kiln_queue *queue = nullptr;
    kiln_error error{};
    CHECK(kiln_queue_create(load.loader, nullptr, &queue, &error) == KILN_ERROR_OPENCL);
    CHECK(queue == nullptr);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("options of a queue that make no sense are refused", "[queue]") {
  reset_fake();
  Ready r;
  kiln_queue *queue = nullptr;
  const auto refused = [&](const kiln_queue_options &wrong, const std::string &message) {
    CHECK(kiln_queue_create(r.load.loader, &wrong, &queue, &r.error) == KILN_ERROR_ARGUMENT);
    CHECK(r.message() == message);
  };
  refused({0, 0, KILN_LEVEL_DEFAULT, KILN_LEVEL_DEFAULT, 0},
          "kiln_queue_options: size is not its sizeof");
  refused(options(4), "kiln_queue_options: unknown flag");
  refused(with_number(offsetof(kiln_queue_options, priority), 4),
          "kiln_queue_options: unknown level");
  refused(with_number(offsetof(kiln_queue_options, throttle), -1),
          "kiln_queue_options: unknown level");
  kiln_queue_options with_reserved = options();
  with_reserved.reserved = 1;
  refused(with_reserved, "kiln_queue_options: reserved is not zero");
}

TEST_CASE("options of a newer header are refused where they say what is not known", "[queue]") {
  reset_fake();
  Ready r;
  struct {
    kiln_queue_options known;
    std::array<char, 64> more;
  } newer{options(), {}};
  newer.known.size = sizeof(newer);
  kiln_queue *queue = nullptr;
  CHECK(kiln_queue_create(r.load.loader, &newer.known, &queue, &r.error) == KILN_OK);
  kiln_queue_release(queue);
  for (const std::size_t place : {std::size_t{0}, newer.more.size() - 1}) {
    newer.more = {};
    newer.more[place] = 1;
    CHECK(kiln_queue_create(r.load.loader, &newer.known, &queue, &r.error) == KILN_ERROR_ARGUMENT);
    CHECK(r.message() ==
          "kiln_queue_options: an option is set that this version of the library does not know");
  }
}

TEST_CASE("hints of a context are passed where the device has the extension", "[queue]") {
  reset_fake();
  const auto made_with = [](const runtime::ContextHints &hints, unsigned *applied) {
    kiln_device *device = fake_device();
    runtime::Handle<cl_context> context;
    CHECK(runtime::create_context(*device->device, &context, hints, applied).ok());
    kiln_device_release(device);
    return fake().context_properties.size();
  };
  unsigned applied = 77;
  const runtime::ContextHints hints = {KILN_LEVEL_HIGH, KILN_LEVEL_LOW};
  CHECK(made_with(hints, &applied) == 2);
  CHECK(applied == 0);
  fake().extensions = "cl_qcom_perf_hint cl_qcom_priority_hint";
  CHECK(made_with({}, &applied) == 2);
  CHECK(applied == 0);
  CHECK(made_with(hints, &applied) == 6);
  CHECK(applied == (KILN_HINT_PERFORMANCE | KILN_HINT_PRIORITY));
  const std::vector<cl_context_properties> tail(fake().context_properties.begin() + 2,
                                                fake().context_properties.end());
  CHECK(tail == std::vector<cl_context_properties>{0x40C2, 0x40C3, 0x40C9, 0x40CC});
  fake().context_hints_code = CL_INVALID_PROPERTY;  // together with a context
  CHECK(made_with(hints, &applied) == 2);
  CHECK(applied == 0);
  CHECK(fake().live == 0);
}

TEST_CASE("a launch neither flushes nor waits, and waits in the driver for what it is told to",
          "[queue]") {
  reset_fake();
  {
    Ready r;
    const kiln_ndrange range{1, {4, 0, 0}, {}, {}};
    kiln_event *first = nullptr;
    kiln_event *second = nullptr;
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &first, &r.error) == KILN_OK);
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &second, &r.error) == KILN_OK);
    CHECK(kiln_event_cl(first) != kiln_event_cl(second));
    const kiln_event *const both[] = {first, second};
    CHECK(kiln_launch(r.queue, r.kernel, &range, both, 2, nullptr, &r.error) == KILN_OK);
    CHECK(fake().waited_for == 2);
    CHECK(fake().flushes == 0);
    CHECK(fake().waits == 0);
    CHECK(kiln_queue_flush(r.queue, &r.error) == KILN_OK);
    CHECK(fake().flushes == 1);
    kiln_event_release(first);
    kiln_event_release(second);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("an event that is used again lets go of its command", "[queue]") {
  reset_fake();
  {
    Ready r;
    const kiln_ndrange range{1, {4, 0, 0}, {}, {}};
    kiln_event *event = nullptr;
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &event, &r.error) == KILN_OK);
    kiln_event *const same = event;
    const long live = fake().live;
    for (int i = 0; i < 10; ++i) {
      CHECK(kiln_launch(r.queue, r.kernel, &range, &event, 1, &event, &r.error) == KILN_OK);
    }
    CHECK(event == same);
    CHECK(fake().live == live);
    const cl_event before = kiln_event_cl(event);
    fake().launch_code = CL_OUT_OF_RESOURCES;  // together with an event
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &event, &r.error) ==
          KILN_ERROR_OPENCL);
    CHECK(kiln_event_cl(event) == before);
    CHECK(fake().live == live);
    kiln_event_release(event);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("a wait list that makes no sense is refused", "[queue]") {
  reset_fake();
  Ready r;
  const Ready other;
  const kiln_ndrange range{1, {4, 0, 0}, {}, {}};
  kiln_event *mine = nullptr;
  kiln_event *foreign = nullptr;
  CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &mine, &r.error) == KILN_OK);
  CHECK(kiln_launch(other.queue, other.kernel, &range, nullptr, 0, &foreign, nullptr) == KILN_OK);
  const auto refused = [&](const kiln_event *const *wait, size_t count, const char *message) {
    kiln_event *event = nullptr;
    void *address = nullptr;
    CHECK(kiln_launch(r.queue, r.kernel, &range, wait, count, &event, &r.error) ==
          KILN_ERROR_ARGUMENT);
    CHECK(r.message() == message);
    CHECK(kiln_buffer_map_async(r.queue, r.buffer, wait, count, &address, &event, &r.error) ==
          KILN_ERROR_ARGUMENT);
    CHECK(r.message() == message);
    CHECK(event == nullptr);
  };
  const std::vector<const kiln_event *> many(65, mine);
  const kiln_event *const hole[] = {mine, nullptr};
  const kiln_event *const strange[] = {mine, foreign};
  refused(nullptr, 1, "the wait list is NULL");
  refused(hole, 2, "an event to wait for is NULL");
  refused(strange, 2, "an event to wait for and the queue are of other contexts");
  refused(many.data(), 65, "a wait list has at most 64 events");
  CHECK(kiln_launch(r.queue, r.kernel, &range, many.data(), 64, nullptr, &r.error) == KILN_OK);
  CHECK(fake().waited_for == 64);
  kiln_event_release(mine);
  kiln_event_release(foreign);
}

TEST_CASE("what is of another context is refused", "[queue]") {
  reset_fake();
  Ready r;
  const Ready other;
  const kiln_ndrange range{1, {4, 0, 0}, {}, {}};
  void *address = nullptr;
  std::size_t pitch = 0;
  CHECK(kiln_launch(r.queue, other.kernel, &range, nullptr, 0, nullptr, &r.error) ==
        KILN_ERROR_ARGUMENT);
  CHECK(r.message() == "the kernel and the queue are of other contexts");
  CHECK(kiln_kernel_set_buffer(r.kernel, 0, other.buffer, &r.error) == KILN_ERROR_ARGUMENT);
  CHECK(r.message() == "the memory and the kernel are of other contexts");
  CHECK(kiln_kernel_set_image(r.kernel, 0, other.image, &r.error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_buffer_map(r.queue, other.buffer, &address, &r.error) == KILN_ERROR_ARGUMENT);
  CHECK(r.message() == "the memory and the queue are of other contexts");
  CHECK(kiln_image_map(r.queue, other.image, &address, &pitch, &r.error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_buffer_unmap(r.queue, other.buffer, &r.error) == KILN_ERROR_ARGUMENT);
}

TEST_CASE("an event of the application's is retained, if it is of the context", "[queue]") {
  reset_fake();
  {
    Ready r;
    const kiln_ndrange range{1, {4, 0, 0}, {}, {}};
    kiln_event *made = nullptr;
    kiln_event *event = nullptr;
    CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &made, &r.error) == KILN_OK);
    CHECK(kiln_event_from_cl(r.load.loader, kiln_event_cl(made), &event, &r.error) ==
          KILN_ERROR_ARGUMENT);
    CHECK(r.message() == "the cl_event is of another context");
    CHECK(event == nullptr);
    fake().memory_context = kiln_loader_context(r.load.loader);
    CHECK(kiln_event_from_cl(r.load.loader, kiln_event_cl(made), &event, &r.error) == KILN_OK);
    CHECK(kiln_event_cl(event) == kiln_event_cl(made));
    kiln_event_release(made);
    CHECK(kiln_launch(r.queue, r.kernel, &range, &event, 1, nullptr, &r.error) == KILN_OK);
    kiln_event_release(event);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("mapping without waiting gives the address at once and an event", "[queue]") {
  reset_fake();
  {
    Ready r;
    kiln_event *event = nullptr;
    void *address = nullptr;
    std::size_t pitch = 0;
    CHECK(kiln_buffer_map_async(r.queue, r.buffer, nullptr, 0, &address, &event, &r.error) ==
          KILN_OK);
    CHECK_FALSE(fake().map_blocking);
    CHECK(address != nullptr);
    CHECK(event != nullptr);
    CHECK(kiln_buffer_map(r.queue, r.buffer, &address, &r.error) == KILN_ERROR_ARGUMENT);
    CHECK(kiln_buffer_unmap_async(r.queue, r.buffer, &event, 1, &event, &r.error) == KILN_OK);
    CHECK(fake().waited_for == 1);
    CHECK(kiln_image_map_async(r.queue, r.image, &event, 1, &address, &pitch, nullptr, &r.error) ==
          KILN_OK);
    CHECK_FALSE(fake().map_blocking);
    CHECK(pitch == 16);
    CHECK(kiln_image_unmap_async(r.queue, r.image, nullptr, 0, &event, &r.error) == KILN_OK);
    CHECK(fake().waits == 0);
    CHECK(kiln_buffer_map(r.queue, r.buffer, &address, &r.error) == KILN_OK);
    CHECK(fake().map_blocking);
    fake().map_code = CL_MAP_FAILURE;  // together with an event
    CHECK(kiln_image_map_async(r.queue, r.image, nullptr, 0, &address, &pitch, &event, &r.error) ==
          KILN_ERROR_OPENCL);
    kiln_event_release(event);
  }
  CHECK(fake().live == 0);
}
