// SPDX-License-Identifier: Apache-2.0
// Warms and checks each way, then goes round all of them again and again.
#include "tests/bench/gemm_times.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/tune/sampler.hpp"

namespace kiln::test {
namespace {

using builder::Result;
using builder::Status;

constexpr std::size_t kSmall = 256;  // tells how fast a way is, roughly
constexpr std::size_t kMaxAtOnce = 200;

// What is known of a way before it is timed.
struct Warmed {
  std::size_t count = 1;  // products of a sample
  double expected = 0;    // nanoseconds of one
  std::vector<double> samples;
};

Status check(const GemmMatrices &matrices, std::size_t n, const std::vector<float> &first,
             GemmTime *time) {
  const auto error = matrices.worst_error(n);
  if (!error.ok()) return error.status();
  const auto product = matrices.product(n);
  if (!product.ok()) return product.status();
  time->error = *error;
  time->difference = first.empty() ? 0 : worst_difference(*product, first);
  time->right = std::max(time->error, time->difference) <= allowed_error(n);
  return {};
}

// Nanoseconds of one product, of `count` that are enqueued together.
Result<double> time_products(const GemmMatrices &matrices, const GemmWay &way, std::size_t n,
                             std::size_t count) {
  if (Status status = matrices.finish(); !status.ok()) return status;
  const auto start = builder::Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    if (Status status = way.enqueue(n); !status.ok()) return status;
  }
  if (Status status = matrices.finish(); !status.ok()) return status;
  return 1e6 * builder::milliseconds_since(start) / static_cast<double>(count);
}

// The time that n x n takes, by that of smaller matrices.
Result<double> expected_time(const GemmMatrices &matrices, const GemmWay &way, std::size_t n) {
  const std::size_t small = std::min(n, kSmall);
  auto took = time_products(matrices, way, small, 1);  // drivers compile here
  if (took.ok()) took = time_products(matrices, way, small, 2);
  if (!took.ok()) return took;
  return *took * std::pow(static_cast<double>(n) / static_cast<double>(small), 3);
}

Status warm(const GemmMatrices &matrices, const GemmWay &way, std::size_t n, const GemmRule &rule,
            bool always, const std::vector<float> &first, Warmed *warmed, GemmTime *time) {
  const auto expected = expected_time(matrices, way, n);
  if (!expected.ok()) return expected.status();
  if (!always && *expected > rule.longest) {
    time->left_out = fmt::format("would take some {:.0f} s", *expected / 1e9);
    return {};
  }
  if (Status status = matrices.spoil(n); !status.ok()) return status;
  const auto took = time_products(matrices, way, n, 1);
  if (!took.ok()) return took.status();
  if (Status status = check(matrices, n, first, time); !status.ok()) return status;
  warmed->expected = *took;
  warmed->count =
      std::clamp<std::size_t>(static_cast<std::size_t>(rule.sample / *took) + 1, 1, kMaxAtOnce);
  return {};
}

}  // namespace

double GemmTime::gigaflops(std::size_t n) const {
  return nanoseconds > 0 ? 2 * std::pow(static_cast<double>(n), 3) / nanoseconds : 0;
}

std::vector<GemmTime> time_gemms(const GemmMatrices &matrices, const std::vector<GemmWay> &ways,
                                 std::size_t n, const GemmRule &rule) {
  std::vector<GemmTime> times(ways.size());
  std::vector<Warmed> warmed(ways.size());
  std::vector<float> first;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    times[w].name = ways[w].name;
    times[w].status = warm(matrices, ways[w], n, rule, w == 0, first, &warmed[w], &times[w]);
    if (w != 0 || !times[0].status.ok()) continue;
    auto product = matrices.product(n);
    if (product.ok()) first = *std::move(product);
  }
  for (std::size_t round = 0; round < rule.rounds; ++round) {
    for (std::size_t w = 0; w < ways.size(); ++w) {
      GemmTime &time = times[w];
      const bool slow = warmed[w].expected > rule.longest / 4;
      if (!time.status.ok() || !time.left_out.empty() || (slow && round >= 3)) continue;
      const auto took = time_products(matrices, ways[w], n, warmed[w].count);
      time.status = took.status();
      if (took.ok()) warmed[w].samples.push_back(*took);
    }
  }
  for (std::size_t w = 0; w < ways.size(); ++w) {
    times[w].samples = times[w].status.ok() ? warmed[w].samples.size() : 0;
    times[w].nanoseconds = builder::median(warmed[w].samples);
  }
  return times;
}

}  // namespace kiln::test
