// SPDX-License-Identifier: Apache-2.0
// A launch in the steady state takes no memory.
#include "kiln/sequence.h"
#include "tests/runtime/fake/launch_ready.hpp"
#include "tests/runtime/launch/allocations.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE("a thousand launches with events in and out allocate nothing", "[allocation]") {
  reset_fake();
  {
    Ready r;
    const kiln_ndrange range{2, {1000, 700, 0}, {}, {}};
    kiln_event *events[2] = {nullptr, nullptr};
    fake().static_event = true;
    const auto launch = [&](unsigned value) {
      kiln_status status = kiln_kernel_set_buffer(r.kernel, 0, r.buffer, &r.error);
      if (status == KILN_OK) status = kiln_kernel_set_value(r.kernel, 1, &value, 4, &r.error);
      if (status != KILN_OK) return status;
      return kiln_launch(r.queue, r.kernel, &range, &events[1], value == 0 ? 0 : 1, &events[0],
                         &r.error);
    };
    CHECK(launch(0) == KILN_OK);
    std::swap(events[0], events[1]);
    CHECK(launch(0) == KILN_OK);
    const long before = allocations();
    bool all = true;
    for (unsigned i = 1; i <= 1000; ++i) {
      all = all && launch(i) == KILN_OK;
      std::swap(events[0], events[1]);
    }
    CHECK(allocations() == before);
    CHECK(all);
    kiln_event_release(events[0]);
    kiln_event_release(events[1]);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("mapping and running a sequence allocate nothing either", "[allocation]") {
  reset_fake();
  Ready r;
  const kiln_ndrange range{1, {1000, 0, 0}, {}, {}};
  const unsigned value = 1;
  kiln_sequence *sequence = nullptr;
  kiln_event *event = nullptr;
  CHECK(kiln_kernel_set_buffer(r.kernel, 0, r.buffer, &r.error) == KILN_OK);
  CHECK(kiln_kernel_set_value(r.kernel, 1, &value, sizeof(value), &r.error) == KILN_OK);
  CHECK(kiln_sequence_begin(r.queue, &sequence, &r.error) == KILN_OK);
  CHECK(kiln_sequence_add(sequence, r.kernel, &range, &r.error) == KILN_OK);
  CHECK(kiln_sequence_end(sequence, &r.error) == KILN_OK);
  fake().static_event = true;
  CHECK(kiln_sequence_run(sequence, nullptr, 0, &event, &r.error) == KILN_OK);
  const long before = allocations();
  bool all = true;
  for (int i = 0; i < 100 && all; ++i) {
    void *address = nullptr;
    all = kiln_sequence_run(sequence, &event, 1, &event, &r.error) == KILN_OK &&
          kiln_buffer_map_async(r.queue, r.buffer, &event, 1, &address, &event, &r.error) ==
              KILN_OK &&
          kiln_buffer_unmap_async(r.queue, r.buffer, &event, 1, &event, &r.error) == KILN_OK;
  }
  CHECK(allocations() == before);
  CHECK(all);
  kiln_event_release(event);
  kiln_sequence_release(sequence);
}

TEST_CASE("the counter counts", "[allocation]") {
  const long before = allocations();
  ::operator delete(::operator new(1));  // a call; Clang leaves out a new-expression without use
  CHECK(allocations() > before);
}
