// SPDX-License-Identifier: Apache-2.0
#include "builder/tune/search_plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "builder/tune/measure.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;

namespace {

const NDSize kWide{7680, 4320, 1};

WorkGroupLimits limits(std::size_t items, std::size_t multiple) {
  return {items, multiple, {items, items, 64}, {0, 0, 0}};
}

std::size_t volume(const NDSize &local) { return local[0] * local[1] * local[2]; }

bool contains(const std::vector<NDSize> &sizes, const NDSize &local) {
  return std::find(sizes.begin(), sizes.end(), local) != sizes.end();
}

bool is_prime(std::size_t n) {
  for (std::size_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

using Cost = std::function<double(const NDSize &)>;

// The sizes in the order in which the search asks for them.
std::vector<NDSize> follow(Search &search, const Cost &cost) {
  std::vector<NDSize> order;
  while (const auto local = search.next()) {
    order.push_back(*local);
    search.record_time(*local, cost(*local));
  }
  return order;
}

// Fastest at one size, and slower with each step away from it.
Cost distance_from(const NDSize &best) {
  return [best](const NDSize &local) {
    double steps = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      steps += std::abs(std::log2(static_cast<double>(local[i]) / static_cast<double>(best[i])));
    }
    return steps;
  };
}

}  // namespace

TEST_CASE("Candidates keep the limits of device and kernel") {
  WorkGroupLimits tight = limits(256, 32);
  tight.work_item_sizes = {128, 4, 64};
  const auto sizes = work_group_candidates(2, kWide, tight);
  REQUIRE_FALSE(sizes.empty());
  for (const NDSize &local : sizes) {
    CHECK(volume(local) <= 256);
    CHECK(local[0] <= 128);
    CHECK(local[1] <= 4);
    CHECK(local[2] == 1);
  }
  CHECK(contains(sizes, {64, 4, 1}));
}

TEST_CASE("Candidates are multiples of the preferred multiple and no side is a prime over 3") {
  for (const std::size_t multiple : {1U, 8U, 32U, 64U}) {
    for (const NDSize &local : work_group_candidates(2, kWide, limits(1024, multiple))) {
      CHECK(volume(local) % multiple == 0);
      for (const std::size_t side : local) CHECK((side <= 3 || !is_prime(side)));
    }
  }
  CHECK(contains(work_group_candidates(2, kWide, limits(1024, 32)), {96, 2, 1}));
  CHECK(contains(work_group_candidates(2, kWide, limits(1024, 32)), {4, 8, 1}));
}

TEST_CASE("Where no size can be a multiple of the preferred one its half counts") {
  const auto sizes = work_group_candidates(2, {3, 2, 1}, limits(256, 64));
  REQUIRE_FALSE(sizes.empty());
  for (const NDSize &local : sizes) CHECK(volume(local) == 8);
}

TEST_CASE("No candidate is wider than the range rounded up") {
  for (const NDSize &local : work_group_candidates(3, {50, 5, 3}, limits(1024, 1))) {
    CHECK(local[0] <= 64);
    CHECK(local[1] <= 8);
    CHECK(local[2] <= 4);
  }
  CHECK(work_group_candidates(1, {1, 1, 1}, limits(1024, 32)) == std::vector<NDSize>{{1, 1, 1}});
}

TEST_CASE("Dimensions that the range does not have stay 1") {
  for (const NDSize &local : work_group_candidates(1, {100000, 1, 1}, limits(1024, 32))) {
    CHECK(local[1] == 1);
    CHECK(local[2] == 1);
  }
}

TEST_CASE("A required size is the only candidate, and the whole search") {
  WorkGroupLimits required = limits(256, 32);
  required.required = {16, 16, 1};
  CHECK(work_group_candidates(2, kWide, required) == std::vector<NDSize>{{16, 16, 1}});
  Search search(2, kWide, required, {});
  CHECK(follow(search, distance_from({16, 16, 1})) == std::vector<NDSize>{{16, 16, 1}});
}

TEST_CASE("A device that allows one work-item has one candidate") {
  CHECK(work_group_candidates(2, kWide, {}) == std::vector<NDSize>{{1, 1, 1}});
}

TEST_CASE("What is given is measured first, each size once") {
  Search search(2, kWide, limits(256, 32), {{7, 3, 1}, {64, 1, 1}});
  const auto order = follow(search, distance_from({64, 1, 1}));
  REQUIRE(order.size() > 2);
  CHECK(order[0] == NDSize{7, 3, 1});
  CHECK(order[1] == NDSize{64, 1, 1});
  CHECK(std::set<NDSize>(order.begin(), order.end()).size() == order.size());
}

TEST_CASE("Few candidates are all measured") {
  Search search(1, {1 << 20, 1, 1}, limits(1024, 32), {});
  REQUIRE(search.full());
  auto order = follow(search, distance_from({1024, 1, 1}));
  std::sort(order.begin(), order.end());
  CHECK(order == search.candidates());
}

TEST_CASE("Of many candidates the search finds the best and leaves most out") {
  for (const NDSize &best :
       {NDSize{8, 32, 1}, NDSize{1, 64, 1}, NDSize{1024, 1, 1}, NDSize{96, 4, 1}}) {
    Search search(2, kWide, limits(1024, 1), {{64, 1, 1}});
    REQUIRE_FALSE(search.full());
    const auto order = follow(search, distance_from(best));
    CHECK(search.ranking().front() == best);
    CHECK(order.size() < search.candidates().size() / 2);
  }
}

TEST_CASE("The coarse grid has small groups and great ones, flat and square, before neighbours") {
  Search search(2, kWide, limits(4096, 1), {});
  const auto order = follow(search, [](const NDSize &) { return 1.0; });
  REQUIRE(order.size() >= 14);
  const std::vector<NDSize> coarse(order.begin(), order.begin() + 13);
  CHECK(contains(coarse, {1, 1, 1}));
  CHECK(coarse.front() == NDSize{4096, 1, 1});
  CHECK(contains(coarse, {64, 64, 1}));
}

TEST_CASE("A failed size is never the best, and its neighbours are left alone") {
  const double failed = std::numeric_limits<double>::infinity();
  Search search(2, kWide, limits(1024, 1), {});
  follow(search, [&](const NDSize &local) {
    return volume(local) > 256 ? failed : 1.0 / static_cast<double>(volume(local));
  });
  CHECK(volume(search.ranking().front()) == 256);
  for (const NDSize &local : search.ranking()) CHECK(volume(local) <= 256);

  Search hopeless(2, kWide, limits(1024, 1), {});
  follow(hopeless, [&](const NDSize &) { return failed; });
  CHECK(hopeless.ranking().empty());
  CHECK(hopeless.best() == failed);
}

TEST_CASE("The search asks for one size until it knows how long that took") {
  Search search(2, kWide, limits(256, 32), {});
  const auto first = search.next();
  CHECK(search.next() == first);
  search.record_time(*first, 1);
  CHECK(search.next() != first);
}

TEST_CASE("What is much slower is given up after few samples, what is close is not") {
  const auto after = [](std::size_t samples, double least) {
    return Statistics{least, least, 0, samples};
  };
  CHECK_FALSE(clearly_slower(after(0, 0), 100));
  CHECK(clearly_slower(after(1, 400), 100));
  CHECK_FALSE(clearly_slower(after(1, 200), 100));
  CHECK(clearly_slower(after(2, 200), 100));
  CHECK(clearly_slower(after(3, 120), 100));
  CHECK_FALSE(clearly_slower(after(50, 105), 100));
  CHECK_FALSE(clearly_slower(after(50, 1e9), std::numeric_limits<double>::infinity()));
}

TEST_CASE("A budget is shared evenly, and what a job leaves goes to the others") {
  Budget budget(10, 4);
  CHECK(budget.share() == 2.5);
  budget.spend(1);
  CHECK(budget.share() == 3);
  budget.spend(7);
  CHECK(budget.share() == 1);
  budget.spend(2.5);
  CHECK(budget.share() == 0);
  budget.spend(0);
  CHECK(budget.share() == 0);
}

TEST_CASE("Each class is tuned with the greatest listed size, else with a halved or doubled one") {
  const std::uint64_t any = ~std::uint64_t{0};
  const std::vector<ProblemSize> laplace = {{768, 432, 1}, {2560, 1600, 1}, {7680, 4320, 1}};
  CHECK(tuning_sizes(laplace, any) ==
        std::vector<ProblemSize>{{240, 135, 1}, {768, 432, 1}, {7680, 4320, 1}});
  CHECK(tuning_sizes(laplace, 1 << 22) ==
        std::vector<ProblemSize>{{240, 135, 1}, {768, 432, 1}, {2560, 1600, 1}});
  CHECK(tuning_sizes({{300, 200, 1}}, any) ==
        std::vector<ProblemSize>{{300, 200, 1}, {600, 400, 1}, {2400, 1600, 1}});
  CHECK(tuning_sizes({{1 << 28, 1, 1}}, 1 << 22) ==
        std::vector<ProblemSize>{{1 << 15, 1, 1}, {1 << 19, 1, 1}, {1 << 22, 1, 1}});
  CHECK(tuning_sizes({{1024, 1024, 1024}}, 1 << 22).back() == ProblemSize{128, 128, 128});
}

TEST_CASE("Every class has a size, whatever is listed") {
  for (const std::vector<ProblemSize> &listed : std::vector<std::vector<ProblemSize>>{
           {}, {{1, 1, 1}}, {{3, 5, 7}}, {{65535, 1, 1}}, {{40000, 40000, 1}}}) {
    const auto sizes = tuning_sizes(listed, 1 << 22);
    REQUIRE(sizes.size() == 3);
    for (unsigned i = 0; i < 3; ++i) {
      CHECK(kiln::packs::size_class(sizes[i].elements()) == static_cast<kiln::packs::SizeClass>(i));
      CHECK(sizes[i].elements() <= 1 << 22);
    }
  }
}

TEST_CASE("A clock that cannot be true is not believed") {
  const Clocked good{{{100, 200}, {200, 300}}, 500};
  const Clocked later{{{400, 500}, {500, 600}}, 500};
  CHECK(clock_makes_sense({good, later}));
  CHECK_FALSE(clock_makes_sense({}));
  CHECK_FALSE(clock_makes_sense({later, good}));
  CHECK_FALSE(clock_makes_sense({{{}, 500}}));
  CHECK_FALSE(clock_makes_sense({{{{0, 100}}, 500}}));
  CHECK_FALSE(clock_makes_sense({{{{100, 100}}, 500}}));
  CHECK_FALSE(clock_makes_sense({{{{200, 100}}, 500}}));
  CHECK_FALSE(clock_makes_sense({{{{100, 200}}, 50}}));
  // A tick for every launch, however long.
  CHECK_FALSE(clock_makes_sense({{{{100, 101}}, 5e6}, {{{102, 103}}, 6e6}}));
  CHECK(clock_makes_sense({{{{100, 2100}}, 5e6}, {{{3000, 5000}}, 5e4}}));
}

TEST_CASE("Even candidates divide every range on every side") {
  const std::vector<NDSize> ranges = {{1920, 1080, 1}, {640, 480, 1}};
  const auto even = even_candidates(2, ranges, limits(256, 8));
  const auto all = work_group_candidates(2, ranges[0], limits(256, 8));
  REQUIRE_FALSE(even.empty());
  for (const NDSize &local : all) {
    const bool divides =
        1920 % local[0] == 0 && 640 % local[0] == 0 && 1080 % local[1] == 0 && 480 % local[1] == 0;
    CHECK(contains(even, local) == divides);
  }
  CHECK(contains(even, {32, 8, 1}));
  CHECK_FALSE(contains(even, {24, 8, 1}));
}

TEST_CASE("Where no multiple of the preferred one divides a range its halves are even candidates") {
  CHECK(even_candidates(1, {{100, 1, 1}}, limits(256, 8)) == std::vector<NDSize>{{4, 1, 1}});
  CHECK(even_candidates(1, {{101, 1, 1}}, limits(256, 8)) == std::vector<NDSize>{{1, 1, 1}});
  CHECK(even_candidates(2, {{64, 8, 1}, {64, 1, 1}}, limits(64, 32)) ==
        std::vector<NDSize>{{32, 1, 1}, {64, 1, 1}});
}

TEST_CASE("A search of given candidates takes no others") {
  const std::vector<NDSize> given = {{8, 1, 1}, {24, 1, 1}, {64, 1, 1}};
  Search search(given, {given[0], given[2]});
  const auto order = follow(search, distance_from({24, 1, 1}));
  CHECK(std::set<NDSize>(order.begin(), order.end()) ==
        std::set<NDSize>(given.begin(), given.end()));
  CHECK(order.size() == given.size());
  CHECK(search.ranking().front() == NDSize{24, 1, 1});
}

TEST_CASE("First guesses come in the order in which the runtime takes them, each once") {
  Seeds seeds;
  CHECK(seeds.sizes() == std::vector<NDSize>{{1, 1, 1}});
  seeds.guess = {8, 8, 1};
  seeds.suggested = {16, 4, 1};
  CHECK(seeds.sizes() == std::vector<NDSize>{{16, 4, 1}, {8, 8, 1}});
  seeds.own = {32, 2, 1};
  CHECK(seeds.sizes() == std::vector<NDSize>{{32, 2, 1}, {16, 4, 1}, {8, 8, 1}});
  seeds.own = seeds.suggested = seeds.guess;
  CHECK(seeds.sizes() == std::vector<NDSize>{{8, 8, 1}});
}
