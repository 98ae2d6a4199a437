// SPDX-License-Identifier: Apache-2.0
// What tuning measures, in which order, and when it has to stop. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "builder/measure/sampler.hpp"
#include "builder/problem/problem_size.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

using runtime::NDSize;
using runtime::WorkGroupLimits;

// The work-group sizes that are worth trying for a range of work-items, ascending. A kernel's
// required size is the only one. Else sides are powers of two, in x also multiples of the preferred
// multiple without a prime factor over 3; none is wider than the range rounded up to a power of
// two; the work-items of a group are a multiple of the preferred multiple, or where no size within
// the limits is, of that multiple's half, its half, and so on. Sides beyond `dimensions` are 1.
std::vector<NDSize> work_group_candidates(unsigned dimensions, const NDSize &global,
                                          const WorkGroupLimits &limits);

// Not more candidates than this are measured one and all.
inline constexpr std::size_t kFullSearch = 40;

// The order in which the sizes of one kernel are measured: those given first; then a coarse grid,
// for each of up to seven numbers of work-items the flattest shape and the squarest, the
// greatest number first, then the nearest to 128 and on outwards; then all others where there are
// few, else the neighbours of the best so far (a side one step up or down, or one side up and
// another down), until the best has none left.
class Search {
 public:
  Search(unsigned dimensions, const NDSize &global, const WorkGroupLimits &limits,
         const std::vector<NDSize> &first);

  // What to measure now; nothing when the search is over. The same until took() was told.
  std::optional<NDSize> next();
  // How long it took; infinity where it failed.
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

// Whether the samples so far, however noisy, leave no hope to get below `best` (nanoseconds).
bool clearly_slower(const Statistics &samples, double best);

// Shares a time over jobs: each gets the same part of what those before it have left.
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

// One launch as the device's clock has it, and how long it was on the host's, all nanoseconds.
struct Clocked {
  std::vector<std::array<std::uint64_t, 2>> stages;  // start and end
  double host = 0;
};

// Whether the times of these launches, one after the other on an in-order queue, can be true:
// ends after starts, starts never earlier than those before, nothing longer than on the host,
// and not all of them shorter than a thousandth of that.
bool clock_makes_sense(const std::vector<Clocked> &launches);

}  // namespace kiln::builder
