// SPDX-License-Identifier: Apache-2.0
// Times of several ways to multiply the same matrices, which take turns.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/bench/gemm_matrices.hpp"

namespace kiln::test {

// One way to enqueue C = A B for n x n matrices.
struct GemmWay {
  std::string name;
  std::function<builder::Status(std::size_t n)> enqueue;
};

struct GemmTime {
  std::string name;
  builder::Status status;  // a failure leaves no figures
  std::string left_out;    // why it was not measured; empty: it was
  double nanoseconds = 0;  // of one product, median over the rounds
  std::size_t samples = 0;
  double error = std::numeric_limits<double>::infinity();       // worst_error()
  double difference = std::numeric_limits<double>::infinity();  // from the first way's product
  bool right = false;                                           // both are allowed

  bool measured() const { return samples != 0; }
  double gigaflops(std::size_t n) const;
};

struct GemmRule {
  std::size_t rounds = 9;
  double sample = 20e6;   // nanoseconds: so many products that they take this long
  double longest = 20e9;  // nanoseconds: what a slower product is left out for
};

// By the host's clock: a sample is some products enqueued one after the other, and the wait for all
// of them. Each way runs untimed first, for small matrices and for these, and is checked. Ways that
// are slower than the rule's longest, by the small matrices, are left out; but never the first,
// which has three rounds where it is slow.
std::vector<GemmTime> time_gemms(const GemmMatrices &matrices, const std::vector<GemmWay> &ways,
                                 std::size_t n, const GemmRule &rule);

}  // namespace kiln::test
