// SPDX-License-Identifier: Apache-2.0
#include "builder/finish/launch_sizes.hpp"

#include "tests/support/catch.hpp"

using namespace kiln;
using builder::launch_sizes;
using builder::LaunchSize;
using builder::pocl_sizes;
using builder::tuned_sizes;
using builder::TunedSizes;
using runtime::NDSize;

namespace {

packs::Tuning row(const std::string &kernel, std::array<std::uint32_t, 3> local,
                  const std::string &profile = "pocl") {
  packs::Tuning tuning;
  tuning.program = "blur";
  tuning.variant = "fast";
  tuning.kernel = kernel;
  tuning.profile = profile;
  tuning.local_size = local;
  return tuning;
}

// One kernel over the pixels of a picture, which Kiln can launch.
packs::Program blur() {
  packs::Program program;
  program.name = "blur";
  packs::Variant variant;
  variant.name = "fast";
  variant.kernels = {{"blur", 2}};
  variant.arguments = {{packs::Role::input, {}, 1, "in"}, {packs::Role::output, {}, 1, "out"}};
  program.variants = {variant};
  return program;
}

runtime::WorkGroupLimits limits(std::size_t most) { return {most, 8, {most, most, most}, {}}; }

std::vector<LaunchSize> sizes_of(const packs::Program &program, const TunedSizes &tuned = {},
                                 std::size_t most = 4096) {
  return launch_sizes(program, program.variants[0], {limits(most)}, tuned);
}

bool has(const std::vector<LaunchSize> &sizes, const LaunchSize &size) {
  return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

}  // namespace

TEST_CASE("tuned sizes are those of the variant's kernels for the profile, each once") {
  packs::Tuning other_program = row("blur", {1, 1, 1});
  other_program.program = "sobel";
  packs::Tuning other_variant = row("blur", {2, 1, 1});
  other_variant.variant = "slow";
  const auto sizes =
      tuned_sizes({row("blur", {32, 2, 1}), other_program, other_variant, row("", {1, 1, 1}),
                   row("blur", {4, 4, 1}, "nvidia"), row("blur", {8, 8, 1}, ""),
                   row("blur", {32, 2, 1}), row("add", {64, 1, 1})},
                  "blur", "fast", "pocl");
  CHECK(sizes == TunedSizes{{"add", {64, 1, 1}}, {"blur", {8, 8, 1}}, {"blur", {32, 2, 1}}});
  CHECK(tuned_sizes({}, "blur", "fast", "pocl").empty());
}

TEST_CASE("sizes for a launch are what the runtime chooses for the three classes, each once") {
  const packs::Program program = blur();
  const auto sizes = sizes_of(program);
  CHECK(std::is_sorted(sizes.begin(), sizes.end()));
  CHECK(std::adjacent_find(sizes.begin(), sizes.end()) == sizes.end());
  for (const std::size_t side : {64u, 512u, 2048u}) {
    const NDSize chosen = runtime::fit_local_size({side, side, 1}, {0, 0, 0}, limits(4096));
    INFO(side);
    CHECK(has(sizes, {chosen, false}));
  }
  for (const LaunchSize &size : sizes) CHECK_FALSE(size.wide);
}

TEST_CASE("the variant's own size and what was tuned are among the sizes, within the limits") {
  packs::Program program = blur();
  CHECK_FALSE(has(sizes_of(program), {{128, 2, 1}, false}));
  CHECK(has(sizes_of(program, {{"blur", {128, 2, 1}}}), {{128, 2, 1}, false}));
  CHECK_FALSE(has(sizes_of(program, {{"other", {128, 2, 1}}}), {{128, 2, 1}, false}));
  program.variants[0].local_size = {2, 16, 1};
  CHECK(has(sizes_of(program), {{2, 16, 1}, false}));
  for (const LaunchSize &size : sizes_of(program, {{"blur", {128, 2, 1}}}, 16)) {
    CHECK(size.local[0] * size.local[1] * size.local[2] <= 16);
  }
}

TEST_CASE("sizes are multiples where the variant demands them") {
  packs::Program program = blur();
  program.variants[0].requirements = {"range_multiple:12x2"};
  const auto sizes = sizes_of(program, {{"blur", {32, 1, 1}}});
  CHECK(has(sizes, {{36, 2, 1}, false}));
  for (const LaunchSize &size : sizes) {
    CHECK(size.local[0] % 12 == 0);
    CHECK(size.local[1] % 2 == 0);
  }
}

TEST_CASE("a kernel with a required size has that alone") {
  const packs::Program program = blur();
  runtime::WorkGroupLimits required = limits(4096);
  required.required = {4, 2, 1};
  CHECK(launch_sizes(program, program.variants[0], {required}, {{"blur", {128, 2, 1}}}) ==
        std::vector<LaunchSize>{{{4, 2, 1}, false}});
}

TEST_CASE("a size is wide where the padded range of a listed problem is") {
  packs::Program program = blur();
  const auto wide = [&](std::uint32_t width) {
    program.sizes = {{width, 2, 1}};
    const auto sizes = sizes_of(program);
    return std::any_of(sizes.begin(), sizes.end(), [](const LaunchSize &s) { return s.wide; });
  };
  CHECK_FALSE(wide(60'000));
  CHECK(wide(65'535));
  CHECK(wide(65'530));  // whatever divides the range: padded it is 65,536
  CHECK(wide(1'000'000));
}

TEST_CASE("a program of rows has the sizes of short rows, whatever rows it lists") {
  packs::Program program = blur();
  CHECK_FALSE(builder::works_on_rows(program));
  program.sizes = {{33'554'432, 1, 1}, {1024, 2, 1}};
  CHECK_FALSE(builder::works_on_rows(program));
  program.sizes.pop_back();
  CHECK(builder::works_on_rows(program));
  const auto sizes = sizes_of(program);
  CHECK(has(sizes, {{64, 1, 1}, false}));
  CHECK(has(sizes, {{64, 1, 1}, true}));
}

TEST_CASE("a variant without a known launch has the sizes that are stated, and none by a guess") {
  packs::Program program = blur();
  packs::Variant &variant = program.variants[0];
  CHECK(builder::knows_sizes(program, variant));
  variant.arguments.clear();
  CHECK_FALSE(builder::knows_launches(program, variant));
  CHECK_FALSE(builder::knows_sizes(program, variant));
  CHECK(sizes_of(program).empty());
  const TunedSizes tuned{{"blur", {8, 8, 1}}};
  CHECK(sizes_of(program, tuned) == std::vector<LaunchSize>{{{8, 8, 1}, false}});
  variant.local_sizes = {{16, 4, 1}, {64, 1, 1}};
  CHECK(builder::knows_sizes(program, variant));
  CHECK(sizes_of(program) ==
        std::vector<LaunchSize>{{{16, 4, 1}, false}, {{64, 1, 1}, false}, {{64, 1, 1}, true}});
  CHECK(sizes_of(program, {}, 63).empty());
  variant.local_sizes.clear();
  variant.local_size = {64, 1, 1};
  CHECK(builder::knows_sizes(program, variant));
  CHECK(sizes_of(program) == std::vector<LaunchSize>{{{64, 1, 1}, false}, {{64, 1, 1}, true}});
  variant.launches.emplace(packs::Bytes{'l'});
  CHECK(builder::knows_launches(program, variant));
}

TEST_CASE("the sizes of all kernels are together, each by its own limits") {
  packs::Program program = blur();
  packs::Variant &variant = program.variants[0];
  variant.kernels = {{"rows", 2}, {"columns", 2}};
  variant.arguments.clear();
  runtime::WorkGroupLimits first = limits(4096);
  runtime::WorkGroupLimits second = limits(4096);
  first.required = {16, 1, 1};
  second.required = {1, 16, 1};
  const auto sizes = launch_sizes(program, variant, {first, second}, {});
  for (const LaunchSize &size : sizes) {
    CHECK((size.local == NDSize{16, 1, 1} || size.local == NDSize{1, 16, 1}));
  }
  CHECK(has(sizes, {{1, 16, 1}, false}));
  CHECK(has(sizes, {{16, 1, 1}, true}));
}

TEST_CASE("a recorded launch without a size is made with the tuned ones that divide its range") {
  builder::RecordedLaunch launch;
  launch.kernel = "rows";
  launch.dimensions = 2;
  launch.global = {96, 8, 1};
  launch.offset = {3, 0, 0};
  builder::RecordedLaunch sized = launch;
  sized.local = {32, 1, 1};
  builder::RecordedLaunch other = launch;
  other.kernel = "columns";
  const TunedSizes tuned = {{"columns", {96, 1, 1}}, {"rows", {16, 2, 1}}, {"rows", {32, 8, 1}},
                            {"rows", {64, 1, 1}},    {"rows", {16, 2, 2}}, {"nothing", {8, 1, 1}}};
  const auto found = builder::tuned_launches({launch, sized, other}, tuned);
  REQUIRE(found.size() == 3);
  CHECK(found[0].kernel == "rows");
  CHECK(found[0].local == NDSize{16, 2, 1});
  CHECK(found[0].global == launch.global);
  CHECK(found[0].offset == launch.offset);
  CHECK(found[1].local == NDSize{32, 8, 1});
  CHECK(found[2].kernel == "columns");
  CHECK(found[2].local == NDSize{96, 1, 1});
  CHECK(builder::tuned_launches({launch}, {}).empty());
}

TEST_CASE("PoCL gets the sizes as its variable has them") {
  CHECK(pocl_sizes({}) == "");
  CHECK(pocl_sizes({{{16, 4, 1}, false}}) == "16-4-1-goffs0-smallgrid");
  CHECK(pocl_sizes({{{16, 4, 1}, false}, {{64, 1, 1}, true}}) ==
        "16-4-1-goffs0-smallgrid,64-1-1-goffs0");
}
