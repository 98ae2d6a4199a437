// SPDX-License-Identifier: Apache-2.0
// Measures a time until its noise is small enough. Pure: the caller supplies the times.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kiln::builder {

struct StopRule {
  std::size_t least = 5;       // minimum number of samples
  std::size_t most = 101;      // maximum number of samples
  double precision = 0.01;     // target for the standard error, as a share of the median
  double nanoseconds = 0.5e9;  // total time after which `least` samples are enough
};

struct Statistics {
  double median = 0;  // nanoseconds
  double least = 0;
  double spread = 0;  // median absolute deviation, as a share of the median
  std::size_t samples = 0;
};

// Returns the median: for an even number of values the mean of the two middle ones, and 0 for no
// values.
double median(std::vector<double> values);

// Collects samples. The noise is estimated from the median absolute deviation, which one late
// sample does not move: the standard error of a median is about 1.253 deviations divided by the
// square root of the number of samples.
class Sampler {
 public:
  explicit Sampler(const StopRule &rule) : rule_(rule) {}

  void add(double nanoseconds);
  bool enough() const;
  Statistics statistics() const;

 private:
  StopRule rule_;
  std::vector<double> sorted_;
  double total_ = 0;
};

}  // namespace kiln::builder
