// SPDX-License-Identifier: Apache-2.0
// Work-group sizes that a driver suggests: asked for once, kept, and not believed.
#include "runtime/launch/suggestion.hpp"

#include "kiln/sequence.h"
#include "tests/runtime/fake/launch_ready.hpp"
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

using Calls = std::vector<std::vector<std::size_t>>;

// A fake that suggests that size, with an 1 x 1 x ... variant of no size of its own.
void reset_suggesting(const std::vector<std::size_t> &suggested) {
  reset_fake();
  fake().extensions = "cl_khr_suggested_local_work_size";
  fake().suggested = suggested;
}

kiln_ndrange plane(std::size_t width, std::size_t height) {
  return {2, {width, height, 0}, {}, {}};
}

kiln_local_source launch(const Ready &r, const kiln_ndrange &range) {
  CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, nullptr) == KILN_OK);
  kiln_local_source source{};
  CHECK(kiln_kernel_local_source(r.kernel, &range, &source, nullptr) == KILN_OK);
  return source;
}

std::string refused(const Ready &r, const kiln_ndrange &range) {
  return kiln_kernel_suggestion_refused(r.kernel, &range);
}

}  // namespace

TEST_CASE("a driver's suggestion is asked for once and passed from then on", "[suggestion]") {
  reset_suggesting({16, 4, 1});
  const Ready r;
  const kiln_ndrange range = plane(100, 77);
  kiln_ndrange planned{};
  CHECK(kiln_kernel_plan(r.kernel, &range, &planned, nullptr) == KILN_OK);
  CHECK(planned.local[0] == 8);  // a plan asks nobody
  CHECK(fake().suggest_calls.empty());
  for (int i = 0; i < 3; ++i) {
    CHECK(launch(r, range) == KILN_LOCAL_SUGGESTED);
    CHECK(fake().local == Sizes{16, 4});
    CHECK(fake().global == Sizes{112, 80});
  }
  CHECK(kiln_kernel_plan(r.kernel, &range, &planned, nullptr) == KILN_OK);
  CHECK(planned.local[0] == 16);
  CHECK(refused(r, range).empty());
  // In whole groups of the size that would be made: no driver needs to divide 77.
  CHECK(fake().suggest_calls == Calls{{104, 80}});
}

TEST_CASE("each class of ranges and number of dimensions has a suggestion", "[suggestion]") {
  reset_suggesting({16, 4, 1});
  const Ready r;
  CHECK(launch(r, plane(64, 64)) == KILN_LOCAL_SUGGESTED);
  CHECK(launch(r, plane(128, 64)) == KILN_LOCAL_SUGGESTED);  // of the same class
  CHECK(fake().suggest_calls.size() == 1);
  fake().suggested = {32, 1, 1};
  CHECK(launch(r, plane(512, 512)) == KILN_LOCAL_SUGGESTED);
  CHECK(fake().local == Sizes{32, 1});
  fake().suggested = {64, 1, 1};
  CHECK(launch(r, {1, {4096, 0, 0}, {}, {}}) == KILN_LOCAL_SUGGESTED);
  CHECK(fake().local == Sizes{64});
  CHECK(launch(r, plane(64, 64)) == KILN_LOCAL_SUGGESTED);
  CHECK(fake().local == Sizes{16, 4});
  CHECK(fake().suggest_calls == Calls{{64, 64}, {512, 512}, {4096}});
}

TEST_CASE("a suggestion is left where the range is narrower", "[suggestion]") {
  reset_suggesting({1, 64, 1});
  const Ready r;
  CHECK(launch(r, plane(64, 64)) == KILN_LOCAL_SUGGESTED);
  CHECK(launch(r, plane(64, 2)) == KILN_LOCAL_GUESS);
  CHECK(fake().local == Sizes{32, 2});
  CHECK(fake().suggest_calls.size() == 1);
}

TEST_CASE("a driver that suggests what cannot be launched is not believed", "[suggestion]") {
  const std::string kMost = std::to_string(SIZE_MAX);
  const struct {
    std::vector<std::size_t> suggested;
    std::string why;
  } rows[] = {
      {{0, 4, 1}, "the driver suggests 0x4: nothing in dimension 0"},
      {{8, 0, 1}, "the driver suggests 8x0: nothing in dimension 1"},
      {{128, 1, 1}, "the driver suggests 128x1: at most 64 work-items fit"},
      {{2048, 1, 1}, "the driver suggests 2048x1: at most 1024 fit in dimension 0"},
      {{16, 8, 1}, "the driver suggests 16x8: at most 64 work-items fit"},
      {{4, 512, 1}, "the driver suggests 4x512: the range has 304 in dimension 1"},
      {{std::size_t(-1), std::size_t(-1), 1},
       "the driver suggests " + kMost + "x" + kMost + ": at most 1024 fit in dimension 0"},
  };
  for (const auto &row : rows) {
    reset_suggesting(row.suggested);
    const Ready r;
    const kiln_ndrange range = plane(300, 300);
    CHECK(refused(r, range).empty());
    for (int i = 0; i < 2; ++i) CHECK(launch(r, range) == KILN_LOCAL_GUESS);
    CHECK(fake().local == Sizes{8, 8});
    CHECK(refused(r, range) == row.why);
    CHECK(refused(r, plane(10, 10)).empty());  // another class was not asked for
    CHECK(fake().suggest_calls.size() == 1);
  }
}

TEST_CASE("a driver that fails when it is asked is not asked again", "[suggestion]") {
  reset_suggesting({8, 8, 1});
  fake().suggest_code = CL_INVALID_KERNEL_ARGS;
  const Ready r;
  for (int i = 0; i < 2; ++i) CHECK(launch(r, plane(64, 64)) == KILN_LOCAL_GUESS);
  CHECK(refused(r, plane(64, 64)) ==
        "clGetKernelSuggestedLocalWorkSizeKHR returned CL_INVALID_KERNEL_ARGS (-52)");
  CHECK(fake().suggest_calls.size() == 1);
}

TEST_CASE("nobody is asked where a size is given, stored, required or not offered",
          "[suggestion]") {
  reset_suggesting({4, 4, 1});
  packs::Contents contents = fake_contents();
  {
    const Ready r(contents);
    const kiln_ndrange given{2, {64, 64, 0}, {2, 2, 0}, {0, 0, 0}};
    CHECK(launch(r, given) == KILN_LOCAL_RANGE);
  }
  contents.programs[0].variants[0].local_size = {8, 2, 1};
  {
    const Ready r(contents);
    CHECK(launch(r, plane(64, 64)) == KILN_LOCAL_VARIANT);
    r.kernel->kernel.limits.required = {2, 1, 1};
    CHECK(launch(r, plane(64, 64)) == KILN_LOCAL_KERNEL);
  }
  CHECK(fake().suggest_calls.empty());
  fake().extensions = "";
  const Ready r;
  CHECK(launch(r, plane(64, 64)) == KILN_LOCAL_GUESS);
  CHECK(fake().suggest_calls.empty());
}

TEST_CASE("a device whose binaries hold the code of chosen sizes is not asked", "[suggestion]") {
  runtime::Device device;
  device.cl = fake_table();
  device.capabilities.extensions = {"cl_khr_suggested_local_work_size"};
  CHECK(runtime::suggest_function(device) != nullptr);
  device.description.finishing = runtime::Finishing::launches;
  CHECK(runtime::suggest_function(device) == nullptr);
}

TEST_CASE("a launch that is recorded takes the suggestion, too", "[suggestion]") {
  reset_suggesting({16, 2, 1});
  const Ready r;
  const unsigned value = 1;
  for (unsigned i = 0; i < 2; ++i) {
    CHECK(kiln_kernel_set_value(r.kernel, i, &value, sizeof(value), nullptr) == KILN_OK);
  }
  kiln_sequence *sequence = nullptr;
  const kiln_ndrange range = plane(64, 64);
  CHECK(kiln_sequence_begin(r.queue, &sequence, nullptr) == KILN_OK);
  CHECK(kiln_sequence_add(sequence, r.kernel, &range, nullptr) == KILN_OK);
  CHECK(kiln_sequence_end(sequence, nullptr) == KILN_OK);
  CHECK(kiln_sequence_run(sequence, nullptr, 0, nullptr, nullptr) == KILN_OK);
  kiln_sequence_release(sequence);
  CHECK(fake().local == Sizes{16, 2});
  CHECK(fake().suggest_calls == Calls{{64, 64}});
}

TEST_CASE_METHOD(OverlayFixture, "a driver that died when it was asked is not asked again",
                 "[suggestion][fork]") {
  reset_suggesting({16, 4, 1});
  const packs::Bytes bytes = written(fake_contents());
  const auto launch_once = [&](const Start &start) {
    kiln_kernel *kernel = nullptr;
    kiln_queue *queue = nullptr;
    const kiln_ndrange range = plane(100, 77);
    CHECK(kiln_kernel_create(start.load.program, "k", &kernel, nullptr) == KILN_OK);
    CHECK(kiln_queue_create(start.load.loader, nullptr, &queue, nullptr) == KILN_OK);
    CHECK(kiln_launch(queue, kernel, &range, nullptr, 0, nullptr, nullptr) == KILN_OK);
    const std::string why = kiln_kernel_suggestion_refused(kernel, &range);
    kiln_queue_release(queue);
    kiln_kernel_release(kernel);
    return why;
  };
  const int status = in_child([&] {
    fake().on_suggest = [] { _exit(9); };
    const Start start(bytes, overlay);
    launch_once(start);
  });
  CHECK(WEXITSTATUS(status) == 9);
  {
    const Start next(bytes, overlay);
    CHECK(launch_once(next) == "an earlier process died when it asked the driver");
  }
  CHECK(fake().suggest_calls.empty());
}

TEST_CASE("a note keeps Kiln from asking a driver", "[suggestion]") {
  reset_suggesting({16, 4, 1});
  const kiln_driver_note note{sizeof(note), nullptr, nullptr, nullptr, KILN_DRIVER_NEVER_SUGGEST,
                              nullptr};
  kiln_loader_options options{};
  options.size = sizeof(options);
  options.driver_notes = &note;
  options.driver_note_count = 1;
  {
    const FakeLoad load(written(fake_contents()), 0, "p", nullptr, &options);
    kiln_kernel *kernel = nullptr;
    kiln_queue *queue = nullptr;
    const kiln_ndrange range = plane(100, 77);
    CHECK(kiln_kernel_create(load.program, "k", &kernel, nullptr) == KILN_OK);
    CHECK(kiln_queue_create(load.loader, nullptr, &queue, nullptr) == KILN_OK);
    CHECK(kiln_launch(queue, kernel, &range, nullptr, 0, nullptr, nullptr) == KILN_OK);
    kiln_queue_release(queue);
    kiln_kernel_release(kernel);
  }
  CHECK(fake().suggest_calls.empty());
  reset_fake();
}
