// SPDX-License-Identifier: Apache-2.0
// How long something takes, measured until the noise is known. Pure: times come from outside.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kiln::builder {

struct StopRule {
  std::size_t least = 5;       // samples at least
  std::size_t most = 101;      // samples at most
  double precision = 0.01;     // enough when the median's standard error is this share of it
  double nanoseconds = 0.5e9;  // enough when the samples, at least `least`, took this long
};

struct Statistics {
  double median = 0;  // nanoseconds
  double least = 0;
  double spread = 0;  // median absolute deviation, as a share of the median
  std::size_t samples = 0;
};

// The mean of the two middle values of an even number; 0 for no values.
double median(std::vector<double> values);

// Collects samples. The noise is taken from the median absolute deviation, which one late sample
// does not move: the standard error of a median is about 1.253 deviations over the root of their
// number.
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
