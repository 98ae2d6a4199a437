// SPDX-License-Identifier: Apache-2.0

#include "builder/tune/tuned_program.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::SizeClass;

namespace {

RecordedLaunch launch(const char *kernel, const NDSize &global, const NDSize &local = {0, 0, 0}) {
  RecordedLaunch made;
  made.kernel = kernel;
  made.global = global;
  made.local = local;
  return made;
}

TunedLaunch tuned(const char *kernel, LaunchEnd end) {
  TunedLaunch made;
  made.program = "cl-0";
  made.variant = "recorded";
  made.size_class = SizeClass::medium;
  made.launches = 3;
  made.global = {512, 256, 1};
  made.end = end;
  made.reason = end == LaunchEnd::better ? "" : "a reason";
  made.timer = "device";
  made.compared_on_pattern = true;
  made.kernel.kernel = kernel;
  made.kernel.work_items = 512 * 256;
  made.kernel.local = {16, 4, 1};
  made.kernel.nanoseconds = 1000;
  made.kernel.default_nanoseconds = 1500;
  made.kernel.samples = 9;
  made.kernel.spread = 0.01;
  made.kernel.candidates = 12;
  made.kernel.points = {{{16, 4, 1}, 1000}};
  made.kernel.skipped = {{{512, 1, 1}, "CL_OUT_OF_RESOURCES"}};
  return made;
}

TunedDevice device(std::vector<TunedLaunch> launches) {
  TunedDevice made;
  made.device.description.profile = "mali";
  made.device.description.key = runtime::BinaryKey(runtime::Facts{{"profile", "mali"}});
  made.device.identity.set(runtime::Field::driver_version, "r51");
  made.launches = std::move(launches);
  return made;
}

}  // namespace

TEST_CASE("launches without a size are together by kernel and size class, the largest first") {
  const auto found = unsized_launches({launch("b", {64, 1, 1}), launch("a", {96, 4, 1}),
                                       launch("a", {2048, 2048, 1}), launch("a", {128, 8, 1}),
                                       launch("a", {256, 1, 1}, {64, 1, 1})});
  REQUIRE(found.size() == 3);
  CHECK(found[0].kernel == "a");
  CHECK(found[0].size_class == SizeClass::small);
  REQUIRE(found[0].launches.size() == 2);
  CHECK(found[0].launches[0].global == NDSize{128, 8, 1});
  CHECK(found[1].size_class == SizeClass::large);
  CHECK(found[2].kernel == "b");
  CHECK(unsized_launches({launch("a", {256, 1, 1}, {64, 1, 1})}).empty());
}

TEST_CASE("what was tuned of launches travels as JSON") {
  for (const LaunchEnd end : {LaunchEnd::better, LaunchEnd::as_good, LaunchEnd::refused,
                              LaunchEnd::without_times, LaunchEnd::used_up}) {
    const TunedLaunch before = tuned("scale", end);
    const TunedLaunch after = tuned_launch_from(to_json(before));
    CHECK(to_json(after) == to_json(before));
    CHECK(after.end == end);
    CHECK(after.size_class == SizeClass::medium);
  }
  CHECK(to_json(tuned("scale", LaunchEnd::as_good))["end"] == "as good");
}

TEST_CASE("a size that is better than the driver's is a row, and no other") {
  const auto rows =
      tuning_rows(device({tuned("scale", LaunchEnd::better), tuned("add", LaunchEnd::as_good),
                          tuned("dies", LaunchEnd::refused), tuned("late", LaunchEnd::used_up)}));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].program == "cl-0");
  CHECK(rows[0].variant == "recorded");
  CHECK(rows[0].kernel == "scale");
  CHECK(rows[0].size_class == SizeClass::medium);
  CHECK(rows[0].local_size == std::array<std::uint32_t, 3>{16, 4, 1});
  CHECK(rows[0].nanoseconds == 1000);
  CHECK(rows[0].default_nanoseconds == 1500);
  CHECK(rows[0].profile == "mali");
  CHECK(rows[0].key_hash == device({}).device.description.key.hash());
  CHECK(rows[0].conditions ==
        "launches recorded: 3, to 512x256, on zeros, device's clock, driver r51, 1 of 12 sizes "
        "tried");
}

TEST_CASE("older rows of a kernel go where it was measured again or must have no size") {
  packs::Contents contents;
  const TunedDevice before =
      device({tuned("better", LaunchEnd::better), tuned("as good", LaunchEnd::better),
              tuned("refused", LaunchEnd::better), tuned("without", LaunchEnd::better),
              tuned("used up", LaunchEnd::better)});
  CHECK(store_tunings(before, &contents) == 5);
  packs::Tuning elsewhere = contents.tunings[1];
  elsewhere.key_hash = 7;
  contents.tunings.push_back(elsewhere);
  CHECK(
      store_tunings(
          device({tuned("better", LaunchEnd::better), tuned("as good", LaunchEnd::as_good),
                  tuned("refused", LaunchEnd::refused), tuned("without", LaunchEnd::without_times),
                  tuned("used up", LaunchEnd::used_up)}),
          &contents) == 1);
  std::vector<std::string> left;
  for (const packs::Tuning &row : contents.tunings) left.push_back(row.kernel);
  CHECK(left == std::vector<std::string>{"without", "used up", "as good", "better"});
}
