// SPDX-License-Identifier: Apache-2.0
// Launching on a real device: events, other queues, sequences, the host's and the application's
// memory, and what a launch allocates.
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "kiln/driver.hpp"
#include "kiln/sequence.hpp"
#include "runtime/api/api.hpp"
#include "runtime/extensions/recorded_sequence.hpp"
#include "tests/runtime/fake/on_device.hpp"
#include "tests/runtime/launch/allocations.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr std::uint32_t kCount = 1000;
const kiln_ndrange kRange{1, {kCount, 0, 0}, {}, {}};

// The kernel `scale` with `values`, which starts as 0, 1, 2, ..., and all else that it needs.
struct Scale {
  Scale() : Scale(nullptr) {}
  explicit Scale(const kiln_queue_options *options)
      : loader(loader_for(kPack)),
        queue(take(Queue::create(loader, options))),
        values(take(Buffer::create(loader, kCount * 4, KILN_ACCESS_BOTH))),
        sizes(take(Buffer::create(loader, 16, KILN_ACCESS_WRITE))) {
    Loaded loaded = loader.load("scale", "a_plain", kSourceOnly);
    REQUIRE(loaded.program);
    kernel = take(Kernel::create(*loaded.program, "scale"));
    auto *numbers = static_cast<std::uint32_t *>(take(values.map(queue)));
    std::iota(numbers, numbers + kCount, 0u);
    require(values.unmap(queue));
    require(kernel.set(0, values));
    require(kernel.set(2, kCount));
    require(kernel.set(3, sizes));
    set_factor(3);
    require(queue.finish());
  }
  void set_factor(std::uint32_t factor) const { require(kernel.set(1, factor)); }
  // Whether every value is its index times `factor`.
  bool scaled_by(std::uint32_t factor) const {
    require(queue.finish());
    const auto *numbers = static_cast<const std::uint32_t *>(take(values.map(queue)));
    bool right = true;
    for (std::uint32_t i = 0; i < kCount; ++i) right = right && numbers[i] == factor * i;
    require(values.unmap(queue));
    return right;
  }

  Loader loader;
  Queue queue;
  Buffer values;
  Buffer sizes;
  Kernel kernel;
};

bool has_extension(const char *name) {
  return device().get()->device->capabilities.has_extension(name);
}

}  // namespace

TEST_CASE("launches out of order wait for each other's events", "[device]") {
  device();
  const kiln_queue_options options = {sizeof(options), KILN_QUEUE_OUT_OF_ORDER, KILN_LEVEL_HIGH,
                                      KILN_LEVEL_LOW, 0};
  const Scale s(&options);
  Event last = take(s.kernel.launch(s.queue, kRange));
  for (int i = 0; i < 4; ++i) {
    Event next;
    require(s.kernel.launch_into(&next, s.queue, kRange, {last, last}));
    last = std::move(next);
  }
  require(last.wait());
  CHECK(s.scaled_by(243));
  const kiln_times times = take(last.times());
  CHECK(times.submit <= times.start);
  CHECK(times.start <= times.end);
  CHECK(times.end <= times.complete);
}

TEST_CASE("an event that is used again has the time stamps of the last launch", "[device]") {
  device();
  const Scale s;
  Event event;
  require(s.kernel.launch_into(&event, s.queue, kRange));
  const kiln_times first = take(event.times());
  require(s.kernel.launch_into(&event, s.queue, kRange, {event}));
  require(s.queue.flush());
  const kiln_times second = take(event.times());
  CHECK(second.queued >= first.queued);
  CHECK(second.start >= first.end);
  CHECK(s.scaled_by(9));
}

TEST_CASE("a queue without profiling has no time stamps", "[device]") {
  device();
  const kiln_queue_options options = {sizeof(options), KILN_QUEUE_NO_PROFILING, KILN_LEVEL_DEFAULT,
                                      KILN_LEVEL_DEFAULT, 0};
  const Scale s(&options);
  const Event event = take(s.kernel.launch(s.queue, kRange));
  CHECK(event.times().error().cl_error == CL_PROFILING_INFO_NOT_AVAILABLE);
  CHECK(s.scaled_by(3));
}

TEST_CASE("memory is mapped and unmapped without waiting", "[device]") {
  device();
  const Scale s;
  Event event;
  require(s.kernel.launch_into(&event, s.queue, kRange));
  const Result<void *> mapped = s.values.map_async(s.queue, &event, {event});
  require(event.wait());
  auto *numbers = static_cast<std::uint32_t *>(*Result<void *>(mapped));
  CHECK(numbers[7] == 21);
  std::iota(numbers, numbers + kCount, 0u);
  require(s.values.unmap_async(s.queue, &event));
  s.set_factor(5);
  require(s.kernel.launch_into(&event, s.queue, kRange, {event}));
  CHECK(s.scaled_by(5));
}

TEST_CASE("a sequence runs with the arguments of its recording, again and again", "[device]") {
  device();
  const Scale s;
  const Sequence sequence = take(Sequence::begin(s.queue));
  s.set_factor(3);
  require(sequence.add(s.kernel, kRange));
  s.set_factor(5);
  require(sequence.add(s.kernel, kRange));
  require(sequence.end());
  INFO(sequence.reason());
  CHECK((sequence.kind() == KILN_RECORDING_COMMAND_BUFFER) ==
        has_extension("cl_khr_command_buffer"));
  s.set_factor(1000);
  Event event;
  require(sequence.run(&event));
  require(sequence.run(&event, {event}));
  require(sequence.run());
  require(event.wait());
  CHECK(s.scaled_by(15 * 15 * 15));
  CHECK(take(event.times()).end > 0);
}

TEST_CASE("a sequence runs as launches where recording is not used", "[device]") {
  device();
  const Scale s;
  const Sequence sequence = take(Sequence::begin(s.queue));
  for (const std::uint32_t factor : {2u, 3u, 7u}) {
    s.set_factor(factor);
    require(sequence.add(s.kernel, kRange));
  }
  require(sequence.end());
  sequence.get()->sequence.recording = {};
  CHECK(sequence.kind() == KILN_RECORDING_NONE);
  Event event;
  for (int i = 0; i < 3; ++i) require(sequence.run(&event));
  require(event.wait());
  CHECK(s.scaled_by(42 * 42 * 42));
}

TEST_CASE("launches of a sequence that are changed compute with what they were given",
          "[device][every]") {
  device();
  for (const bool recorded : {true, false}) {
    const Scale s;
    const Sequence sequence = take(Sequence::begin(s.queue));
    for (const std::uint32_t factor : {3u, 5u}) {
      s.set_factor(factor);
      require(sequence.add(s.kernel, kRange));
    }
    require(sequence.end());
    if (!recorded) sequence.get()->sequence.recording = {};
    require(sequence.run());  // 15
    s.set_factor(7);
    require(sequence.change(1, s.kernel));
    require(sequence.run());  // 21
    require(sequence.run());
    CHECK(s.scaled_by(15 * 21 * 21));
    // Other memory, a smaller range and another work-group size for the first launch.
    const Buffer others = take(Buffer::create(s.loader, kCount * 4, KILN_ACCESS_BOTH));
    auto *numbers = static_cast<std::uint32_t *>(take(others.map(s.queue)));
    std::iota(numbers, numbers + kCount, 0u);
    require(others.unmap(s.queue));
    require(s.kernel.set(0, others));
    require(s.kernel.set(2, std::uint32_t{500}));
    s.set_factor(2);
    const kiln_ndrange smaller{1, {500, 0, 0}, {4, 0, 0}, {0, 0, 0}};
    require(sequence.change(0, s.kernel, &smaller));
    require(sequence.run());  // 7 for `values`, 2 for the first 500 of `others`
    INFO(sequence.reason());
    CHECK(s.scaled_by(15 * 21 * 21 * 7));
    numbers = static_cast<std::uint32_t *>(take(others.map(s.queue)));
    CHECK(numbers[499] == 998);
    CHECK(numbers[500] == 500);
    require(others.unmap(s.queue));
    require(s.queue.finish());
  }
}

TEST_CASE("programs that were built before the compiler was unloaded launch, and others build",
          "[device][every]") {
  device();
  const Scale s;
  require(take(s.kernel.launch(s.queue, kRange)).wait());
  CHECK(take(unload_compiler(s.loader)) == KILN_UNLOAD_CALLED);
  require(take(s.kernel.launch(s.queue, kRange)).wait());
  CHECK(s.scaled_by(9));
  const Kernel another =
      take(Kernel::create(*s.loader.load("scale", "a_plain", kSourceOnly).program));
  CHECK(another.cl() != nullptr);
  const Scale built_after;
  require(take(built_after.kernel.launch(built_after.queue, kRange)).wait());
  CHECK(built_after.scaled_by(3));
  CHECK(take(unload_compiler(built_after.loader)) == KILN_UNLOAD_CALLED);
}

TEST_CASE("both clocks go on, or the device has none to tell", "[device][every]") {
  const auto first = timers(device());
  if (!first) {
    CHECK(first.error().status == KILN_ERROR_REQUIREMENT);
    return;
  }
  const kiln_timers second = take(timers(device()));
  CHECK(second.device >= first->device);
  CHECK(second.host >= first->host);
}

TEST_CASE("a function is called by the driver when a command is done", "[device][every]") {
  device();
  const Scale s;
  std::atomic<int> status{1};
  const Event event = take(s.kernel.launch(s.queue, kRange));
  require(event.set_callback(
      [](cl_event, cl_int now, void *user) { *static_cast<std::atomic<int> *>(user) = now; },
      &status));
  require(s.queue.finish());
  while (status == 1) std::this_thread::yield();  // some drivers call after the wait
  CHECK(status == CL_COMPLETE);
}

TEST_CASE("a buffer over the host's memory is that memory", "[device]") {
  device();
  const Scale s;
  alignas(4096) static std::uint32_t numbers[1024];
  std::iota(numbers, numbers + kCount, 0u);
  const Buffer buffer =
      take(Buffer::from_host(s.loader, numbers, sizeof(numbers), KILN_ACCESS_BOTH));
  CHECK(buffer.zero_copy() == device().get()->device->capabilities.unified_memory);
  require(s.kernel.set(0, buffer));
  require(take(s.kernel.launch(s.queue, kRange)).wait());
  CHECK(take(buffer.map(s.queue)) == numbers);
  CHECK(numbers[999] == 2997);
  require(buffer.unmap(s.queue));
  require(s.queue.finish());
}

TEST_CASE("memory and events of the application's are taken as they are", "[device]") {
  device();
  const Scale s;
  const Buffer same = take(Buffer::from_cl(s.loader, s.values.cl(), KILN_ACCESS_BOTH));
  CHECK(same.cl() == s.values.cl());
  const Event made = take(s.kernel.launch(s.queue, kRange));
  const Event event = take(Event::from_cl(s.loader, made.cl()));
  CHECK(event.cl() == made.cl());
  Event mapped;
  const auto *numbers =
      static_cast<const std::uint32_t *>(take(same.map_async(s.queue, &mapped, {event})));
  require(mapped.wait());
  CHECK(numbers[11] == 33);
  require(same.unmap(s.queue));
  require(s.queue.finish());
  CHECK(Image::from_cl(s.loader, s.values.cl(), KILN_ACCESS_BOTH).error().message ==
        std::string("the cl_mem is not an image"));
  const Loader other = loader_for(kPack);
  CHECK(Buffer::from_cl(other, s.values.cl(), KILN_ACCESS_BOTH).error().status ==
        KILN_ERROR_ARGUMENT);
  CHECK(Event::from_cl(other, made.cl()).error().status == KILN_ERROR_ARGUMENT);
}

TEST_CASE("a thousand launches on the device allocate nothing of ours", "[device]") {
  device();
  const Scale s;
  Event event;
  const auto launch = [&](std::uint32_t factor) {
    return s.kernel.set(1, factor) && s.kernel.launch_into(&event, s.queue, {1, {8, 0, 0}, {}, {}});
  };
  bool all = launch(2) && launch(2);
  require(s.queue.finish());
  const long before = allocations();
  for (int i = 0; i < 1000; ++i) all = launch(1) && all;
  CHECK(allocations() == before);
  CHECK(all);
  require(s.queue.finish());
}
