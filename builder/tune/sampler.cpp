// SPDX-License-Identifier: Apache-2.0
// Stops when the standard error of the median, computed from the spread of the samples, is small
// enough.
#include "builder/tune/sampler.hpp"

#include <algorithm>
#include <cmath>

namespace kiln::builder {
namespace {

double middle(const std::vector<double> &sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return middle(values);
}

void Sampler::add(double nanoseconds) {
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), nanoseconds), nanoseconds);
  total_ += nanoseconds;
}

bool Sampler::enough() const {
  if (sorted_.size() < std::max<std::size_t>(rule_.least, 1)) return false;
  if (sorted_.size() >= rule_.most || total_ >= rule_.nanoseconds) return true;
  const double deviation = 1.4826 * statistics().spread;  // as a share; for a normal distribution
  const double error = 1.253 * deviation / std::sqrt(static_cast<double>(sorted_.size()));
  return error <= rule_.precision;
}

Statistics Sampler::statistics() const {
  if (sorted_.empty()) return {};
  Statistics s;
  s.median = middle(sorted_);
  s.least = sorted_.front();
  s.samples = sorted_.size();
  std::vector<double> deviations;
  for (const double sample : sorted_) deviations.push_back(std::abs(sample - s.median));
  if (s.median > 0) s.spread = median(std::move(deviations)) / s.median;
  return s;
}

}  // namespace kiln::builder
