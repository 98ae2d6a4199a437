// SPDX-License-Identifier: Apache-2.0
// A driver whose binary holds the code of what was launched, as PoCL's does: its programs are built
// once more after their first launches.
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr char kPlain[] = "the driver's binary was stored in the overlay";
constexpr char kFinished[] = "the finished binary was stored in the overlay";

struct FinishFixture : OverlayFixture {
  FinishFixture() { fake().device_version = "OpenCL 3.0 PoCL HSTR: x"; }

  // The last text of that kind.
  static std::string last(const Notices &notices, kiln_notice_kind kind) {
    std::string text = "-";
    for (const Notices::One &one : notices.all) {
      if (one.kind == kind) text = one.text;
    }
    return text;
  }

  static void launch(const Start &start) {
    kiln_kernel *kernel = nullptr;
    kiln_queue *queue = nullptr;
    REQUIRE(kiln_kernel_create(start.load.program, "k", &kernel, nullptr) == KILN_OK);
    REQUIRE(kiln_queue_create(start.load.loader, nullptr, &queue, nullptr) == KILN_OK);
    const std::uint32_t value = 7;
    for (unsigned i = 0; i < 2; ++i) {
      REQUIRE(kiln_kernel_set_value(kernel, i, &value, sizeof(value), nullptr) == KILN_OK);
    }
    kiln_ndrange range{};
    range.dimensions = 1;
    range.global[0] = 64;
    REQUIRE(kiln_launch(queue, kernel, &range, nullptr, 0, nullptr, nullptr) == KILN_OK);
    kiln_kernel_release(kernel);
    kiln_queue_release(queue);
  }

  static void finish(const Start &start) {
    CHECK(kiln_loader_finish(start.load.loader, nullptr) == KILN_OK);
  }

  static kiln_finality finality(const Start &start, std::string *why = nullptr) {
    const char *text = nullptr;
    const kiln_finality final = kiln_report_final(start.load.report, &text);
    if (why != nullptr) *why = text;
    return final;
  }

  // The pack with a binary for this device.
  packs::Bytes exact(packs::Finality finality) const {
    packs::Contents contents = three_programs();
    packs::Finish &made = contents.targets[0].binaries[0].finish;
    made.finality = finality;
    if (finality == packs::Finality::no) made.why_not = "nobody finished it";
    return written(contents);
  }
};

}  // namespace

TEST_CASE_METHOD(FinishFixture, "a program that was launched is built again, and is final then",
                 "[finish]") {
  {
    const Start first(base, overlay);
    REQUIRE(first.load.rung() == KILN_RUNG_IL);
    CHECK(last(first.notices, KILN_NOTICE_STORED) == "-");  // the driver was not asked for a binary
    finish(first);                                          // nothing was launched
    CHECK(last(first.notices, KILN_NOTICE_STORED) == kPlain);
    CHECK(fake().source.builds == 0);
    launch(first);
    finish(first);
    CHECK(fake().source.builds == 1);
    CHECK(last(first.notices, KILN_NOTICE_STORED) == kFinished);
    finish(first);  // once
    CHECK(fake().source.builds == 1);
  }
  const Start second(base, overlay);
  CHECK(second.load.rung() == KILN_RUNG_OVERLAY);
  CHECK(finality(second) == KILN_FINAL_YES);
  launch(second);
  finish(second);
  CHECK(fake().source.builds == 1);
}

TEST_CASE_METHOD(FinishFixture, "a release finishes, too", "[finish]") {
  {
    const Start first(base, overlay);
    launch(first);
  }
  CHECK(fake().source.builds == 1);
  CHECK(finality(Start(base, overlay)) == KILN_FINAL_YES);
}

TEST_CASE_METHOD(FinishFixture, "a device without a compiler builds IL again", "[finish]") {
  fake().compiler = false;
  const Start first(base, overlay);
  launch(first);
  finish(first);
  CHECK(last(first.notices, KILN_NOTICE_STORED) == kFinished);
  CHECK(fake().source.builds == 0);
  CHECK(fake().il.builds == 2);
}

TEST_CASE_METHOD(FinishFixture, "what is not finished stays as it was, and is not final",
                 "[finish]") {
  {
    const Start first(base, overlay);
    launch(first);
    fake().source.build_code = CL_BUILD_PROGRAM_FAILURE;
    finish(first);
    const std::string text = last(first.notices, KILN_NOTICE_NOT_STORED);
    CHECK(text.starts_with("the binary was not finished for the overlay: "));
    CHECK(mentions(text, "clBuildProgram"));
    CHECK(last(first.notices, KILN_NOTICE_STORED) == kPlain);
  }
  fake().source.build_code = CL_SUCCESS;
  const Start second(base, overlay);
  CHECK(second.load.rung() == KILN_RUNG_OVERLAY);
  std::string why;
  CHECK(finality(second, &why) == KILN_FINAL_NO);
  CHECK(why == "stored, but an earlier start ended before it made the binary final");
  launch(second);
  finish(second);
  CHECK(last(second.notices, KILN_NOTICE_STORED) == kFinished);
}

TEST_CASE_METHOD(FinishFixture, "a final binary of the pack goes before one that is not finished",
                 "[finish]") {
  { const Start first(base, overlay); }
  {
    const Start final(exact(packs::Finality::yes), overlay);
    CHECK(final.load.rung() == KILN_RUNG_EXACT);
    CHECK(final.load.reason(KILN_RUNG_OVERLAY) ==
          "missed: it is not final, and the pack's binary is");
  }
  CHECK(Start(exact(packs::Finality::no), overlay).load.rung() == KILN_RUNG_OVERLAY);
  {
    const Start other(base, overlay);
    launch(other);
  }
  CHECK(Start(exact(packs::Finality::yes), overlay).load.rung() == KILN_RUNG_OVERLAY);
}

TEST_CASE_METHOD(FinishFixture, "a driver that died twice when it built again is not asked again",
                 "[finish][fork]") {
  const auto next = [&](bool dies) {
    return WEXITSTATUS(in_child([&] {
      const Start start(base, overlay);
      launch(start);
      if (dies) fake().source.on_build = [] { _exit(9); };
      finish(start);
      const std::string said = last(start.notices, KILN_NOTICE_NOT_STORED);
      _exit(said == "the binary was not finished for the overlay: the driver died or hung when it "
                    "built the program again"
                ? 3
                : 4);
    }));
  };
  CHECK(next(true) == 9);
  CHECK(next(true) == 9);
  CHECK(next(false) == 3);
}
