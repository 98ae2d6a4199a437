// SPDX-License-Identifier: Apache-2.0
#include "builder/tune/sampler.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::builder;

namespace {

Statistics after(const StopRule &rule, const std::vector<double> &samples, bool *enough = nullptr) {
  Sampler sampler(rule);
  for (const double sample : samples) sampler.add(sample);
  if (enough != nullptr) *enough = sampler.enough();
  return sampler.statistics();
}

bool enough(const StopRule &rule, const std::vector<double> &samples) {
  bool answer = false;
  after(rule, samples, &answer);
  return answer;
}

}  // namespace

TEST_CASE("The median, the least and the spread are those of the samples in any order") {
  const Statistics s = after({}, {30, 10, 20, 40, 1000});
  CHECK(s.median == 30);
  CHECK(s.least == 10);
  CHECK(s.spread == Approx(1.0 / 3));
  CHECK(s.samples == 5);
  CHECK(after({}, {10, 20}).median == 15);
  CHECK(after({}, {}).samples == 0);
  CHECK(median({3, 1, 2, 10}) == 2.5);
  CHECK(median({}) == 0);
}

TEST_CASE("Quiet samples are enough when there are the least number of them") {
  const StopRule rule{3, 100, 0.01, 1e9};
  CHECK_FALSE(enough(rule, {}));
  CHECK_FALSE(enough(rule, {100, 100}));
  CHECK(enough(rule, {100, 100, 100}));
}

TEST_CASE("Noisy samples are not enough until there are many") {
  const StopRule rule{3, 100, 0.01, 1e9};
  std::vector<double> samples;
  for (int i = 0; i < 50; ++i) samples.push_back(i % 2 == 0 ? 90 : 110);
  CHECK_FALSE(enough(rule, samples));
  for (int i = 0; i < 50; ++i) samples.push_back(100);
  CHECK(enough(rule, samples));
}

TEST_CASE("One late sample does not make the others doubtful") {
  CHECK(enough({3, 100, 0.01, 1e9}, {100, 100, 100, 100, 100000}));
}

TEST_CASE("Time ends the sampling, but not before the least number") {
  const StopRule rule{3, 100, 0.0, 1000};
  CHECK_FALSE(enough(rule, {900, 1100}));
  CHECK(enough(rule, {900, 1100, 1000}));
}
