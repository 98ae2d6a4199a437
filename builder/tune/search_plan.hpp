// SPDX-License-Identifier: Apache-2.0
// What tuning measures, in which order, and when it has to stop. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "builder/problem/program_shape.hpp"
#include "builder/tune/sampler.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

using runtime::NDSize;
using runtime::WorkGroupLimits;

// The work-group sizes that are worth trying for a range of work-items, ascending. A kernel's
// required size is the only one. Else sides are powers of two, in x also multiples of the preferred
// multiple without a prime factor over 3; none is wider than the range rounded up to a power of
// two; the work-items of a group are a multiple of the preferred multiple. If the limits allow no
// such size, half of that multiple is tried, and so on. Sides beyond `dimensions` are 1.
std::vector<NDSize> work_group_candidates(unsigned dimensions, const NDSize &global,
                                          const WorkGroupLimits &limits);

// The same without those that do not divide each of the ranges on every side; at least {1, 1, 1}. A
// kernel without a required size.
std::vector<NDSize> even_candidates(unsigned dimensions, const std::vector<NDSize> &ranges,
                                    const WorkGroupLimits &limits);

// Up to this number of candidates, all are measured.
inline constexpr std::size_t kFullSearch = 40;

// The order in which the sizes of one kernel are measured. First the sizes given. Then a coarse
// grid: up to seven numbers of work-items, the greatest first, then by distance from 128, each as
// the flattest shape and as the squarest. Then all others, if they are at most kFullSearch; else
// the neighbours of the best so far (one side a step up or down, or one up and another down) until
// each was measured.
class Search {
 public:
  Search(unsigned dimensions, const NDSize &global, const WorkGroupLimits &limits,
         const std::vector<NDSize> &first);
  // Of candidates that were chosen otherwise, ascending.
  Search(std::vector<NDSize> candidates, const std::vector<NDSize> &first);

  // The size to measure next, or nothing when the search is over. Unchanged until took() is
  // called with it.
  std::optional<NDSize> next();
  // Records a measurement; infinity for a launch that failed.
  void took(const NDSize &local, double nanoseconds);

  const std::vector<NDSize> &candidates() const { return candidates_; }
  bool full() const { return full_; }
  // Those that were measured and did not fail, the fastest first.
  std::vector<NDSize> ranking() const;
  double best() const;  // nanoseconds; infinity before anything was measured

 private:
  void plan(const NDSize &local);
  void plan_coarse();
  void plan_neighbours(const NDSize &of);

  std::vector<NDSize> candidates_;
  bool full_ = false;
  std::vector<NDSize> planned_;  // each once
  std::size_t done_ = 0;         // of `planned_`
  std::map<NDSize, double> measured_;
};

// How long tuning measures, and what it gives up (docs/tuning.md).
inline constexpr double kSlowest = 1e9;       // nanoseconds of a launch that is worth a search
inline constexpr double kMinLaunches = 15;    // about, without any search
inline constexpr std::size_t kFailures = 5;   // in a row, after which a search ends
inline constexpr std::size_t kFinalists = 3;  // that are measured again
inline constexpr StopRule kSearchRule{3, 15, 0.02, 50e6};
inline constexpr StopRule kFinalRule{5, 51, 0.01, 300e6};

// Whether the median cannot come below `best` (nanoseconds), whatever the noise of these samples.
bool clearly_slower(const Statistics &samples, double best);

// Divides a time among jobs: each gets an equal share of what is left when it begins.
class Budget {
 public:
  Budget(double seconds, std::size_t jobs) : left_(seconds), jobs_(jobs) {}
  double share() const { return left_ > 0 && jobs_ > 0 ? left_ / static_cast<double>(jobs_) : 0; }
  // What the next job really took.
  void spend(double seconds);

 private:
  double left_;
  std::size_t jobs_;
};

// The sizes to tune a program for when no size was given: for each size class the greatest of the
// manifest's that has at most `most` elements, else a halved or doubled one; ascending.
std::vector<ProblemSize> tuning_sizes(const std::vector<ProblemSize> &listed, std::uint64_t most);

// The times of one launch by the device's clock and by the host's, nanoseconds.
struct Clocked {
  std::vector<std::array<std::uint64_t, 2>> stages;  // start and end
  double host = 0;
};

// Whether the device's clock is plausible for these launches of an in-order queue: each stage ends
// after it starts, starts never decrease, no launch takes longer than the host waited for it, and
// not every launch is below a thousandth of that.
bool clock_makes_sense(const std::vector<Clocked> &launches);

}  // namespace kiln::builder
