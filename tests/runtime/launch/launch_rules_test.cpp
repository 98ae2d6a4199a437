// SPDX-License-Identifier: Apache-2.0
// Multiples of NDRanges and refused offsets, by a variant's requirements.
#include "runtime/launch/work_group.hpp"

#include "tests/runtime/fake/launch_ready.hpp"

using namespace kiln;
using namespace kiln::test;
using runtime::apply_multiple;
using runtime::LaunchRules;
using runtime::NDSize;
using runtime::WorkGroupLimits;

namespace {

const WorkGroupLimits kLimits{64, 8, {64, 64, 64}, {0, 0, 0}};

LaunchRules rules_of(const std::vector<std::string> &requirements) {
  return runtime::launch_rules(requirements);
}

// The size that is launched for a size that was not asked for.
NDSize chosen(const NDSize &local, const char *multiple) {
  NDSize result = local;
  CHECK(
      apply_multiple(rules_of({std::string("range_multiple:") + multiple}), kLimits, false, &result)
          .ok());
  return result;
}

packs::Contents contents_with(const std::vector<std::string> &requirements) {
  packs::Contents contents = fake_contents();
  contents.programs[0].variants[0].requirements = requirements;
  return contents;
}

}  // namespace

TEST_CASE("requirements of other kinds are no rules of launches", "[launch]") {
  const LaunchRules rules = rules_of({"fp16", "vendor:mali", "range_multiple:", "proof"});
  CHECK(rules.multiple == NDSize{1, 1, 1});
  CHECK_FALSE(rules.no_offset);
  CHECK(rules_of({"no_global_offset"}).no_offset);
}

TEST_CASE("of several multiples each is met", "[launch]") {
  CHECK(rules_of({"range_multiple:4", "range_multiple:6x2"}).multiple == NDSize{12, 2, 1});
}

TEST_CASE("a chosen size becomes a multiple that fits the limits", "[launch]") {
  CHECK(chosen({8, 4, 1}, "4") == NDSize{8, 4, 1});
  CHECK(chosen({1, 1, 1}, "4x2") == NDSize{4, 2, 1});
  CHECK(chosen({13, 1, 1}, "4") == NDSize{16, 1, 1});
  CHECK(chosen({21, 3, 1}, "4") == NDSize{12, 3, 1});  // 24 by 3 work-items are too many
  CHECK(chosen({9, 7, 1}, "1x8") == NDSize{4, 8, 1});
}

TEST_CASE("a multiple that no work-group can be is named", "[launch]") {
  NDSize local{1, 1, 1};
  const auto status = apply_multiple(rules_of({"range_multiple:16x8"}), kLimits, false, &local);
  CHECK(status.code == packs::Code::bad_argument);
  CHECK(status.message ==
        "no work-group that is a multiple of 16x8x1 work-items fits the device's limits");
  CHECK(local == NDSize{1, 1, 1});
}

TEST_CASE("a size that was asked for, or that the kernel requires, is not changed", "[launch]") {
  const LaunchRules rules = rules_of({"range_multiple:4"});
  const char *message =
      "work-groups of 6x1x1 work-items are no multiple of 4x1x1, which the variant requires";
  NDSize local{6, 1, 1};
  CHECK(apply_multiple(rules, kLimits, true, &local).message == message);
  WorkGroupLimits limits = kLimits;
  limits.required = local;
  CHECK(apply_multiple(rules, limits, false, &local).message == message);
}

TEST_CASE("a launch of merged work-items is padded to their multiple", "[launch]") {
  reset_fake();
  packs::Contents contents = contents_with({"no_global_offset", "range_multiple:4x2"});
  contents.programs[0].variants[0].options = "-cl-std=CL2.0";
  fake().non_uniform_work_groups = true;  // which would leave the range as it is
  Ready r(contents);
  const kiln_ndrange range{2, {13, 3, 0}, {0, 0, 0}, {0, 0, 0}};
  REQUIRE(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, &r.error) == KILN_OK);
  CHECK(fake().local[0] % 4 == 0);
  CHECK(fake().local[1] % 2 == 0);
  CHECK(fake().global[0] % fake().local[0] == 0);
  CHECK(fake().global[0] >= 13);
  const kiln_ndrange odd{2, {16, 4, 0}, {6, 2, 0}, {0, 0, 0}};
  CHECK(kiln_launch(r.queue, r.kernel, &odd, nullptr, 0, nullptr, &r.error) == KILN_ERROR_ARGUMENT);
  CHECK(r.message().find("no multiple of 4x2x1") != std::string::npos);
}

TEST_CASE("Mali is given the options that merge work-items, and launches that suit them",
          "[launch]") {
  reset_fake();
  {
    fake().device_name = "Mali-G710";
    packs::Contents contents =
        contents_with({"no_global_offset", "range_multiple:8", "vendor:mali"});
    contents.programs[0].variants[0].options = "-fkernel-vectorizer=x8";
    contents.targets.clear();
    contents.programs[0].variants[0].il32.reset();
    contents.programs[0].variants[0].il64.reset();
    Ready r(contents);
    CHECK(fake().source.built_with == "-fkernel-vectorizer=x8 -fdeferred-compilation");
    const kiln_ndrange range{2, {13, 3, 0}, {0, 0, 0}, {0, 0, 0}};
    REQUIRE(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, &r.error) == KILN_OK);
    CHECK(fake().local[0] % 8 == 0);
    CHECK(fake().global[0] % 8 == 0);
  }
  reset_fake();
}

TEST_CASE("an offset reaches the driver, or is refused where the variant takes none", "[launch]") {
  reset_fake();
  const kiln_ndrange range{2, {8, 8, 0}, {4, 4, 0}, {16, 3, 0}};
  {
    Ready r;
    REQUIRE(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, &r.error) == KILN_OK);
    CHECK(fake().offset == Sizes{16, 3});
    kiln_ndrange planned{};
    REQUIRE(kiln_kernel_plan(r.kernel, &range, &planned, &r.error) == KILN_OK);
    CHECK(planned.offset[0] == 16);
    CHECK(planned.offset[1] == 3);
    const kiln_ndrange none{2, {8, 8, 0}, {4, 4, 0}, {0, 0, 9}};
    REQUIRE(kiln_launch(r.queue, r.kernel, &none, nullptr, 0, nullptr, &r.error) == KILN_OK);
    CHECK(fake().offset.empty());
  }
  Ready r(contents_with({"no_global_offset"}));
  CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, nullptr, &r.error) ==
        KILN_ERROR_ARGUMENT);
  CHECK(r.message() == "the variant v requires no_global_offset");
}
