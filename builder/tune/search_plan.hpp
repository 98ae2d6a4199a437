// SPDX-License-Identifier: Apache-2.0
// Decides what tuning measures, in which order, and when it has to stop. Pure.
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

// Returns the work-group sizes that are worth trying for a range of work-items, ascending. A
// required size of the kernel is the only candidate. Otherwise sides are powers of two, in x also
// multiples of the preferred multiple without a prime factor over 3. No side is longer than the
// range rounded up to a power of two. The number of work-items in a group is a multiple of the
// preferred multiple. If the limits allow no such size, half of the preferred multiple is used, and
// so on. Sides beyond `dimensions` are 1.
std::vector<NDSize> work_group_candidates(unsigned dimensions, const NDSize &global,
                                          const WorkGroupLimits &limits);

// Returns only the work_group_candidates() that divide each of the ranges on every side; at least
// {1, 1, 1}. The kernel must have no required size.
std::vector<NDSize> even_candidates(unsigned dimensions, const std::vector<NDSize> &ranges,
                                    const WorkGroupLimits &limits);

// Up to this number of candidates, all are measured.
inline constexpr std::size_t kFullSearch = 40;

// The order in which the sizes of one kernel are measured. First come the given sizes. Then comes a
// coarse grid: up to seven numbers of work-items, the largest first and the others by distance from
// 128, each in the flattest and in the squarest shape. If there are at most kFullSearch candidates,
// all others follow. Otherwise the neighbours of the best size so far follow (one side a step up or
// down, or one side up and another down), until every neighbour was measured.
class Search {
 public:
  Search(unsigned dimensions, const NDSize &global, const WorkGroupLimits &limits,
         const std::vector<NDSize> &first);
  // Searches candidates that the caller chose; they must be ascending.
  Search(std::vector<NDSize> candidates, const std::vector<NDSize> &first);

  // Returns the size to measure next, or nothing when the search is over. Returns the same size
  // until record_time() is called with it.
  std::optional<NDSize> next();
  // Records a measurement; infinity for a launch that failed.
  void record_time(const NDSize &local, double nanoseconds);

  const std::vector<NDSize> &candidates() const { return candidates_; }
  bool full() const { return full_; }
  // Returns the sizes that were measured and did not fail, the fastest first.
  std::vector<NDSize> ranking() const;
  double best() const;  // nanoseconds; infinity before anything was measured

 private:
  void plan(const NDSize &local);
  void plan_coarse();
  void plan_neighbours(const NDSize &of);

  std::vector<NDSize> candidates_;
  bool full_ = false;
  std::vector<NDSize> planned_;  // each once
  std::size_t done_ = 0;         // number of sizes in planned_ that were measured
  std::map<NDSize, double> measured_;
};

// Limits of the time that tuning takes (docs/use/tuning.md).
inline constexpr double kSlowest = 1e9;       // nanoseconds; slower launches are not tuned
inline constexpr double kMinLaunches = 15;    // launches without any search, roughly
inline constexpr std::size_t kFailures = 5;   // consecutive failures that end a search
inline constexpr std::size_t kFinalists = 3;  // sizes that are measured again
inline constexpr StopRule kSearchRule{3, 15, 0.02, 50e6};
inline constexpr StopRule kFinalRule{5, 51, 0.01, 300e6};

// Whether the median cannot fall below `best` (nanoseconds), whatever the noise of these samples.
bool clearly_slower(const Statistics &samples, double best);

// Divides a time among jobs: when a job begins, it gets an equal share of the time left.
class Budget {
 public:
  Budget(double seconds, std::size_t jobs) : left_(seconds), jobs_(jobs) {}
  double share() const { return left_ > 0 && jobs_ > 0 ? left_ / static_cast<double>(jobs_) : 0; }
  // Records the seconds that the next job really took.
  void spend(double seconds);

 private:
  double left_;
  std::size_t jobs_;
};

// Returns the sizes to tune a program for when no size was given, ascending: for each size class
// the largest size of the manifest that has at most `most` elements, else a halved or doubled size.
std::vector<ProblemSize> tuning_sizes(const std::vector<ProblemSize> &listed, std::uint64_t most);

// The times of one launch, by the device's clock and by the host's, in nanoseconds.
struct Clocked {
  std::vector<std::array<std::uint64_t, 2>> stages;  // start and end
  double host = 0;
};

// Whether the device's clock is plausible for these launches of an in-order queue: each stage ends
// after it starts, starts never decrease, no launch takes longer than the host waited for it, and
// at least one launch takes a thousandth of the host's time or more.
bool clock_makes_sense(const std::vector<Clocked> &launches);

}  // namespace kiln::builder
