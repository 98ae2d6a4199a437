// SPDX-License-Identifier: Apache-2.0
#include "builder/tune/tuned_program.hpp"

#include <algorithm>
#include <optional>

#include "kiln/packs/bytes.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

constexpr ProblemSize kMedium{768, 432, 1};
constexpr ProblemSize kLarge{2560, 1600, 1};
constexpr ProblemSize kLarger{7680, 4320, 1};

DeviceInfo device(const std::string &model) {
  DeviceInfo info;
  info.description.profile = "mali";
  info.description.model = model;
  info.description.key =
      runtime::BinaryKey(runtime::Facts{{"profile", "mali"}, {"device_name", model}});
  info.identity.set(runtime::Field::driver_version, "r51");
  return info;
}

TunedVariant measured(const std::string &name, double nanoseconds, std::uint64_t work_items) {
  TunedVariant v;
  v.variant = name;
  v.check = Check::exact;
  v.timer = "device";
  v.nanoseconds = nanoseconds;
  v.default_nanoseconds = 2 * nanoseconds;
  v.samples = 9;
  v.spread = 0.0125;
  TunedKernel kernel;
  kernel.kernel = "run_" + name;
  kernel.work_items = work_items;
  kernel.local = {16, 4, 1};
  kernel.nanoseconds = nanoseconds;
  kernel.default_nanoseconds = 2 * nanoseconds;
  kernel.samples = 9;
  kernel.spread = 0.0125;
  kernel.candidates = 51;
  kernel.points = {{{16, 4, 1}, nanoseconds}, {{8, 8, 1}, 3 * nanoseconds}};
  kernel.skipped = {{{1024, 1, 1}, "CL_OUT_OF_RESOURCES"}};
  v.kernels = {kernel};
  return v;
}

TunedVariant without_times(const std::string &name, const std::string &reason, bool rejected) {
  TunedVariant v;
  v.variant = name;
  v.end = rejected ? TuneEnd::rejected : TuneEnd::without_times;
  v.reason = reason;
  return v;
}

TunedDevice tuned(std::vector<TunedSize> sizes) {
  return {device("Mali-G710"), std::move(sizes), {}};
}

std::optional<packs::Tuning> find(const std::vector<packs::Tuning> &rows,
                                  const std::string &variant, const std::string &kernel,
                                  packs::SizeClass size_class) {
  for (const packs::Tuning &row : rows) {
    if (row.variant == variant && row.kernel == kernel && row.size_class == size_class) return row;
  }
  return std::nullopt;
}

using packs::SizeClass;

}  // namespace

TEST_CASE("A kernel's row has its work-items' class, a variant's the problem's elements'") {
  const auto rows = tuning_rows(tuned({{"laplace", kLarge, {measured("wide", 1000, 400000)}}}));
  REQUIRE(rows.size() == 2);
  const auto kernel = find(rows, "wide", "run_wide", SizeClass::medium);
  REQUIRE(kernel);
  CHECK(kernel->local_size == std::array<std::uint32_t, 3>{16, 4, 1});
  CHECK(kernel->nanoseconds == 1000);
  CHECK(kernel->default_nanoseconds == 2000);
  CHECK(kernel->samples == 9);
  CHECK(kernel->spread == 13);
  CHECK(kernel->conditions == "2560x1600, device's clock, driver r51, 2 of 51 sizes tried");
  const auto variant = find(rows, "wide", "", SizeClass::large);
  REQUIRE(variant);
  CHECK(variant->local_size == std::array<std::uint32_t, 3>{1, 1, 1});
  CHECK(variant->profile == "mali");
  CHECK(variant->model == "Mali-G710");
  CHECK(variant->key_hash == device("Mali-G710").description.key.hash());
}

TEST_CASE("Of two sizes whose launches have one class the larger one's row counts") {
  const auto rows = tuning_rows(tuned({{"laplace", kLarger, {measured("wide", 9000, 900000)}},
                                       {"laplace", kMedium, {measured("wide", 1000, 80000)}}}));
  CHECK(find(rows, "wide", "run_wide", SizeClass::medium)->nanoseconds == 9000);
  CHECK(find(rows, "wide", "", SizeClass::medium)->nanoseconds == 1000);
  CHECK(find(rows, "wide", "", SizeClass::large)->nanoseconds == 9000);
}

TEST_CASE("Times of variants that are compared are of one size") {
  const auto rows = tuning_rows(tuned(
      {{"laplace", kLarge, {measured("a", 1000, 1), measured("b", 2000, 1)}},
       {"laplace", kLarger, {measured("a", 9000, 1), without_times("b", "too slow", false)}}}));
  CHECK(find(rows, "a", "", SizeClass::large)->nanoseconds == 1000);
  CHECK(find(rows, "b", "", SizeClass::large)->nanoseconds == 2000);
}

TEST_CASE("Times of variants that are compared are of one clock") {
  TunedVariant by_host = measured("c", 1, 1);
  by_host.timer = "wall";
  const auto rows = tuning_rows(
      tuned({{"laplace", kLarge, {measured("a", 1000, 1), measured("b", 2000, 1), by_host}}}));
  CHECK(find(rows, "a", "", SizeClass::large));
  CHECK_FALSE(find(rows, "c", "", SizeClass::large));
  CHECK(find(rows, "c", "run_c", SizeClass::small));
}

TEST_CASE("Where time was left for some variants alone, none is chosen by it") {
  const auto rows =
      tuning_rows(tuned({{"laplace", kMedium, {measured("a", 500, 1), measured("b", 400, 1)}},
                         {"laplace", kLarge, {measured("a", 1000, 1), used_up("b")}}}));
  CHECK_FALSE(find(rows, "a", "", SizeClass::large));
  CHECK(find(rows, "a", "run_a", SizeClass::small)->nanoseconds == 1000);
  CHECK(find(rows, "a", "", SizeClass::medium)->nanoseconds == 500);
  CHECK(find(rows, "b", "", SizeClass::medium)->nanoseconds == 400);
}

TEST_CASE("A rejected variant has no row, whatever was measured before") {
  const auto rows = tuning_rows(
      tuned({{"laplace", kMedium, {measured("a", 1000, 1), measured("b", 1, 1)}},
             {"laplace",
              kLarge,
              {measured("a", 1000, 1), without_times("b", "the result is wrong", true)}}}));
  CHECK(find(rows, "a", "", SizeClass::medium));
  for (const packs::Tuning &row : rows) CHECK(row.variant == "a");
}

TEST_CASE("A kernel with a required size has no row of its own") {
  TunedVariant v = measured("a", 1000, 1);
  v.kernels[0].required = true;
  const auto rows = tuning_rows(tuned({{"laplace", kLarge, {v}}}));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kernel.empty());
}

TEST_CASE("Tuning again replaces this device's rows, with fewer samples too, and no other's") {
  packs::Contents contents;
  TunedVariant before = measured("a", 500, 1);
  before.samples = 50;
  before.kernels[0].samples = 50;
  store_tunings(tuned({{"laplace", kLarge, {before}}, {"sobel", kLarge, {before}}}), &contents);
  TunedDevice other = tuned({{"laplace", kLarge, {before}}});
  other.device = device("Mali-G610");
  store_tunings(other, &contents);
  REQUIRE(contents.tunings.size() == 6);

  CHECK(store_tunings(tuned({{"laplace", kLarge, {measured("a", 1000, 1)}}}), &contents) == 2);
  REQUIRE(contents.tunings.size() == 6);
  for (const packs::Tuning &row : contents.tunings) {
    const bool again = row.program == "laplace" && row.model == "Mali-G710";
    CHECK(row.nanoseconds == (again ? 1000 : 500));
  }
}

TEST_CASE("Older times of other variants stay where they compare with the new ones") {
  packs::Contents contents;
  store_tunings(tuned({{"laplace", kLarge, {measured("a", 500, 1), measured("b", 600, 1)}}}),
                &contents);
  store_tunings(tuned({{"laplace", kLarge, {measured("a", 700, 1)}}}), &contents);
  CHECK(find(contents.tunings, "b", "", SizeClass::large));
  store_tunings(tuned({{"laplace", kLarger, {measured("a", 7000, 1)}}}), &contents);
  CHECK_FALSE(find(contents.tunings, "b", "", SizeClass::large));
  CHECK(find(contents.tunings, "b", "run_b", SizeClass::small));
  CHECK(find(contents.tunings, "a", "", SizeClass::large)->nanoseconds == 7000);
}

TEST_CASE("All rows of a variant that turns out wrong leave the pack") {
  packs::Contents contents;
  store_tunings(tuned({{"laplace", kLarge, {measured("a", 500, 1), measured("b", 600, 1)}}}),
                &contents);
  TunedVariant wrong = without_times("a", "the result is wrong", true);
  CHECK(store_tunings(tuned({{"laplace", kMedium, {wrong}}}), &contents) == 0);
  REQUIRE(contents.tunings.size() == 2);
  for (const packs::Tuning &row : contents.tunings) CHECK(row.variant == "b");
}

TEST_CASE("What was not measured this time keeps its rows") {
  packs::Contents contents;
  store_tunings(tuned({{"laplace", kLarge, {measured("a", 500, 1)}}}), &contents);
  const TunedVariant none = without_times("a", "the budget was used up", false);
  store_tunings(tuned({{"laplace", kLarge, {none}}}), &contents);
  CHECK(contents.tunings.size() == 2);
}

TEST_CASE("The best variant is the fastest that has times") {
  TunedSize size{
      "laplace",
      kLarge,
      {without_times("a", "wrong", true), measured("b", 2000, 1), measured("c", 1000, 1)}};
  REQUIRE(size.best() != nullptr);
  CHECK(size.best()->variant == "c");
  size.variants.resize(1);
  CHECK(size.best() == nullptr);
}

TEST_CASE("The gain is a geometric mean over what has a time with the driver's size") {
  TunedVariant half = measured("a", 1000, 1);
  half.default_nanoseconds = 500;
  TunedVariant unknown = measured("b", 1000, 1);
  unknown.default_nanoseconds = 0;
  std::size_t count = 0;
  const TunedDevice all = tuned({{"laplace", kLarge, {half, unknown, measured("c", 1000, 1)}}});
  CHECK(all.mean_gain(&count) == Approx(1));
  CHECK(count == 2);
  CHECK(tuned({}).mean_gain(&count) == 1);
  CHECK(count == 0);
}

TEST_CASE("A variant comes back from its JSON as it was") {
  const TunedVariant full = measured("a", 1000, 400000);
  CHECK(to_json(tuned_variant_from(to_json(full))) == to_json(full));
  CHECK(tuned_variant_from(to_json(full)).kernels[0].points.size() == 2);
  TunedVariant unknown = full;
  unknown.default_nanoseconds = 0;
  CHECK(to_json(unknown)["default_nanoseconds"].is_null());
  CHECK(tuned_variant_from(to_json(unknown)).default_nanoseconds == 0);
  TunedVariant wrong = without_times("a", "the result is wrong", true);
  CHECK(tuned_variant_from(to_json(wrong)).rejected());
  for (const TuneEnd end : {TuneEnd::without_times, TuneEnd::used_up, TuneEnd::rejected}) {
    wrong.end = end;
    CHECK(tuned_variant_from(to_json(wrong)).end == end);
  }
  CHECK(tuned_variant_from(to_json(wrong)).reason == "the result is wrong");
}

TEST_CASE("A work-group size is printed without the dimensions that it does not use") {
  CHECK(local_text({64, 1, 1}) == "64");
  CHECK(local_text({16, 4, 1}) == "16x4");
  CHECK(local_text({16, 1, 4}) == "16x1x4");
}
