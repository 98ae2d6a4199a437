// SPDX-License-Identifier: Apache-2.0
// Figures by kernels' names become a variant's statistics.
#include "builder/statistics/statistics.hpp"

#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::StatisticName;

namespace {

packs::Variant with_kernels(std::initializer_list<const char *> names) {
  packs::Variant variant;
  for (const char *name : names) variant.kernels.push_back({name});
  return variant;
}

}  // namespace

TEST_CASE("figures are kept by the index of their kernel, and others' are left out",
          "[statistics]") {
  const auto kept = statistics_of(with_kernels({"first", "second"}),
                                  Figures{{"second", StatisticName::spills, 4},
                                          {"second", StatisticName::registers, 12},
                                          {"clear", StatisticName::registers, 99},
                                          {"first", StatisticName::waves, 8}});
  CHECK(kept == std::vector<packs::Statistic>{{0, StatisticName::waves, 8},
                                              {1, StatisticName::registers, 12},
                                              {1, StatisticName::spills, 4}});
}

TEST_CASE("of several figures of one kind the worst is kept", "[statistics]") {
  const auto kept =
      statistics_of(with_kernels({"first"}), Figures{{"first", StatisticName::registers, 12},
                                                     {"first", StatisticName::waves, 16},
                                                     {"first", StatisticName::registers, 14},
                                                     {"first", StatisticName::waves, 10},
                                                     {"first", StatisticName::registers, 13},
                                                     {"first", StatisticName::waves, 11}});
  CHECK(kept == std::vector<packs::Statistic>{{0, StatisticName::registers, 14},
                                              {0, StatisticName::waves, 10}});
}

TEST_CASE("a figure without a kernel's name is of the only kernel", "[statistics]") {
  const Figures unnamed = {{"", StatisticName::spills, 3}};
  CHECK(statistics_of(with_kernels({"first"}), unnamed) ==
        std::vector<packs::Statistic>{{0, StatisticName::spills, 3}});
  CHECK(statistics_of(with_kernels({"first", "second"}), unnamed).empty());
}

TEST_CASE("limits are the largest figures that a kernel may have, of waves the smallest",
          "[statistics]") {
  packs::Variant variant = with_kernels({"first", "second"});
  const std::vector<packs::Statistic> all = {{0, StatisticName::registers, 64},
                                             {0, StatisticName::waves, 8},
                                             {1, StatisticName::registers, 72},
                                             {1, StatisticName::waves, 7}};
  CHECK(beyond_limits(variant, all).empty());
  CHECK(unmeasured_limits(variant, all).empty());
  variant.limits = {{0, StatisticName::registers, 64},
                    {0, StatisticName::spills, 0},
                    {0, StatisticName::waves, 8}};
  CHECK(beyond_limits(variant, all) ==
        "kernel second has 72 registers, over the limit of 64; kernel second has 7 waves, under "
        "the limit of 8");
  CHECK(unmeasured_limits(variant, all) == "spills");
  CHECK(unmeasured_limits(variant, {all[0], all[1]}) == "registers, spills, waves");
}
