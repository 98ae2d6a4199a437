// SPDX-License-Identifier: Apache-2.0
// A process that ends in the first launch of a kernel, and what later starts know of it.
#include "kiln/sequence.h"
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr char kEnded[] =
    "quarantined: an earlier process ended while it launched this for the first time";

struct FirstLaunchFixture : OverlayFixture {
  static kiln_status launch(const Start &start) {
    kiln_kernel *kernel = nullptr;
    kiln_queue *queue = nullptr;
    if (kiln_kernel_create(start.load.program, "k", &kernel, nullptr) != KILN_OK ||
        kiln_queue_create(start.load.loader, nullptr, &queue, nullptr) != KILN_OK) {
      return KILN_ERROR_ARGUMENT;
    }
    const std::uint32_t value = 7;
    for (unsigned i = 0; i < 2; ++i) {
      (void)kiln_kernel_set_value(kernel, i, &value, sizeof(value), nullptr);
    }
    kiln_ndrange range{};
    range.dimensions = 1;
    range.global[0] = 64;
    const kiln_status status = kiln_launch(queue, kernel, &range, nullptr, 0, nullptr, nullptr);
    kiln_kernel_release(kernel);
    kiln_queue_release(queue);
    return status;
  }

  // A process that does this, and then ends in a launch.
  template <typename Before>
  void dies(Before before) const {
    const int status = in_child([&] {
      const Start start(pack, overlay);
      before(start);
      fake().on_launch = [] { _exit(9); };
      (void)launch(start);
    });
    CHECK(WEXITSTATUS(status) == 9);
  }
  void dies() const {
    dies([](const Start &) {});
  }

  bool is_passed_over() const {
    const Start start(pack, overlay);
    CHECK(start.load.status == KILN_OK);
    const bool passed = start.load.rung() != KILN_RUNG_EXACT;
    if (passed) CHECK(start.load.reason(KILN_RUNG_EXACT) == kEnded);
    return passed;
  }
};

}  // namespace

TEST_CASE_METHOD(FirstLaunchFixture, "a binary is passed over after two deaths in its first launch",
                 "[first_launch][fork]") {
  dies();
  CHECK_FALSE(is_passed_over());
  dies();
  CHECK(is_passed_over());
  CHECK(Start(pack, overlay, 0, "q").load.rung() == KILN_RUNG_EXACT);  // another binary
}

TEST_CASE_METHOD(FirstLaunchFixture, "a launch that is not the first has no marker",
                 "[first_launch][fork]") {
  for (int i = 0; i < 2; ++i) {
    dies([](const Start &start) { _exit(launch(start) == KILN_OK ? 9 : 8); });
    dies([](const Start &start) { (void)launch(start); });
  }
  CHECK_FALSE(is_passed_over());
}

TEST_CASE_METHOD(FirstLaunchFixture, "what was launched once is known at the next start",
                 "[first_launch][fork]") {
  {
    const Start start(pack, overlay);
    CHECK(launch(start) == KILN_OK);
  }
  dies();
  dies();
  CHECK_FALSE(is_passed_over());
}

TEST_CASE_METHOD(FirstLaunchFixture, "a sequence has first launches, too, and gives its event",
                 "[first_launch][fork]") {
  const bool wants_event = GENERATE(false, true);
  const auto run = [&](const Start &start) {
    kiln_kernel *kernel = nullptr;
    kiln_queue *queue = nullptr;
    kiln_sequence *sequence = nullptr;
    kiln_event *event = nullptr;
    CHECK(kiln_kernel_create(start.load.program, "k", &kernel, nullptr) == KILN_OK);
    CHECK(kiln_queue_create(start.load.loader, nullptr, &queue, nullptr) == KILN_OK);
    const std::uint32_t value = 7;
    for (unsigned i = 0; i < 2; ++i) {
      (void)kiln_kernel_set_value(kernel, i, &value, sizeof(value), nullptr);
    }
    kiln_ndrange range{};
    range.dimensions = 1;
    range.global[0] = 64;
    CHECK(kiln_sequence_begin(queue, &sequence, nullptr) == KILN_OK);
    CHECK(kiln_sequence_add(sequence, kernel, &range, nullptr) == KILN_OK);
    CHECK(kiln_sequence_end(sequence, nullptr) == KILN_OK);
    CHECK(kiln_sequence_run(sequence, nullptr, 0, wants_event ? &event : nullptr, nullptr) ==
          KILN_OK);
    CHECK((event != nullptr) == wants_event);
    kiln_event_release(event);
    kiln_sequence_release(sequence);
    kiln_kernel_release(kernel);
    kiln_queue_release(queue);
  };
  {
    const Start start(pack, overlay);
    run(start);
  }
  dies();
  dies();
  CHECK_FALSE(is_passed_over());  // what was launched once is known
}

TEST_CASE_METHOD(FirstLaunchFixture, "a launch that did not end well leaves the next one the first",
                 "[first_launch][fork]") {
  const std::function<void()> faults[] = {[] { fake().launch_code = CL_OUT_OF_RESOURCES; },
                                          [] { fake().callback_code = CL_OUT_OF_HOST_MEMORY; },
                                          [] { fake().callback_status = -5; }};
  for (const auto &fault : faults) {
    CAPTURE(&fault - faults);
    const TemporaryFolder fresh;
    overlay = fresh.path();
    {
      const Start start(pack, overlay);
      fault();
      (void)launch(start);
    }
    reset_fake();
    dies();
    dies();
    CHECK(is_passed_over());
  }
  // In the same process, too; but a launch that was enqueued is not the first again.
  const TemporaryFolder fresh;
  overlay = fresh.path();
  for (int i = 0; i < 2; ++i) {
    dies([](const Start &start) {
      fake().launch_code = CL_OUT_OF_RESOURCES;
      (void)launch(start);
      fake().launch_code = CL_SUCCESS;
    });
  }
  CHECK(is_passed_over());
}
