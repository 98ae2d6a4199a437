// SPDX-License-Identifier: Apache-2.0
// Plans the order of the search, from a coarse grid to the neighbours of the best size, and its
// budget.
#include "builder/tune/search_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/load/tuning.hpp"

namespace kiln::builder {
namespace {

using runtime::volume;

constexpr std::size_t kCoarseVolumes = 7;
constexpr double kMinPart = 1e-3;  // smallest share of the host's time that a plausible clock shows
constexpr double kMiddle = 128;    // work-items; the coarse grid tries numbers near it early

std::size_t without_twos_and_threes(std::size_t n) {
  while (n % 2 == 0) n /= 2;
  while (n % 3 == 0) n /= 3;
  return n;
}

std::vector<std::size_t> sides(std::size_t most, std::size_t multiple) {
  std::vector<std::size_t> result;
  for (std::size_t side = 1; side <= most; side *= 2) result.push_back(side);
  if (multiple == 0) return result;
  for (std::size_t times = 3; times <= most / multiple; ++times) {
    const std::size_t side = times * multiple;
    if (!std::has_single_bit(side) && without_twos_and_threes(times) == 1) result.push_back(side);
  }
  return result;
}

std::size_t most_of(std::size_t i, const NDSize &global, const WorkGroupLimits &limits) {
  const std::size_t within = std::min(limits.work_item_sizes[i], limits.work_group_size);
  constexpr std::size_t kWidest = std::size_t{1} << 31;
  return std::clamp<std::size_t>(within, 1,
                                 std::bit_ceil(std::clamp<std::size_t>(global[i], 1, kWidest)));
}

// Returns the flattest shape with that many work-items, and the squarest shape that is not taller
// than wide.
std::array<const NDSize *, 2> shapes(const std::vector<NDSize> &candidates, std::size_t items) {
  std::array<const NDSize *, 2> found{};
  const auto unevenness = [](const NDSize &local) {
    return static_cast<double>(local[0]) / static_cast<double>(local[1]) *
           static_cast<double>(local[2] * local[2]);
  };
  for (const NDSize &local : candidates) {
    if (volume(local) != items) continue;
    auto &[flat, square] = found;
    if (flat == nullptr || local[0] > (*flat)[0]) flat = &local;
    if (local[0] < local[1]) continue;
    if (square == nullptr || unevenness(local) < unevenness(*square)) square = &local;
  }
  return found;
}

ProblemSize halved(const ProblemSize &size) {
  const auto half = [](std::uint32_t side) { return side / 2 + side % 2; };
  return {half(size.width), half(size.height), half(size.depth)};
}

// Sides of 1 stay, because they are dimensions that the problem does not have.
ProblemSize doubled(const ProblemSize &size) {
  const auto twice = [](std::uint32_t side) { return side == 1 ? 1 : 2 * side; };
  const ProblemSize result{twice(size.width), twice(size.height), twice(size.depth)};
  return result == size ? ProblemSize{2, 1, 1} : result;
}

// Returns the candidates that `keep` accepts, for a kernel without a required size.
template <typename Keep>
std::vector<NDSize> candidates_that(unsigned dimensions, const NDSize &global,
                                    const WorkGroupLimits &limits, const Keep &keep) {
  std::size_t multiple = std::max<std::size_t>(limits.preferred_multiple, 1);
  std::array<std::vector<std::size_t>, 3> of;
  for (std::size_t i = 0; i < 3; ++i) {
    of[i] = i < dimensions ? sides(most_of(i, global, limits), i == 0 ? multiple : 0)
                           : std::vector<std::size_t>{1};
  }
  std::vector<NDSize> result;
  for (; result.empty(); multiple = multiple % 2 == 0 ? multiple / 2 : 1) {
    for (const std::size_t x : of[0]) {
      for (const std::size_t y : of[1]) {
        for (const std::size_t z : of[2]) {
          const bool fits = x * y * z <= std::max<std::size_t>(limits.work_group_size, 1);
          if (fits && x * y * z % multiple == 0 && keep({x, y, z})) result.push_back({x, y, z});
        }
      }
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

std::vector<NDSize> work_group_candidates(unsigned dimensions, const NDSize &global,
                                          const WorkGroupLimits &limits) {
  if (limits.required[0] != 0) return {runtime::fit_local_size(global, {}, limits)};
  return candidates_that(dimensions, global, limits, [](const NDSize &) { return true; });
}

std::vector<NDSize> even_candidates(unsigned dimensions, const std::vector<NDSize> &ranges,
                                    const WorkGroupLimits &limits) {
  return candidates_that(dimensions, ranges.front(), limits, [&](const NDSize &local) {
    return std::all_of(ranges.begin(), ranges.end(),
                       [&](const NDSize &range) { return runtime::divides(local, range); });
  });
}

Search::Search(unsigned dimensions, const NDSize &global, const WorkGroupLimits &limits,
               const std::vector<NDSize> &first)
    : Search(work_group_candidates(dimensions, global, limits), first) {}

Search::Search(std::vector<NDSize> candidates, const std::vector<NDSize> &first)
    : candidates_(std::move(candidates)), full_(candidates_.size() <= kFullSearch) {
  for (const NDSize &local : first) plan(local);
  plan_coarse();
  if (!full_) return;
  for (const NDSize &local : candidates_) plan(local);
}

void Search::plan(const NDSize &local) {
  const bool known = std::find(planned_.begin(), planned_.end(), local) != planned_.end();
  if (!known) planned_.push_back(local);
}

void Search::plan_coarse() {
  std::vector<std::size_t> volumes;
  for (const NDSize &local : candidates_) {
    if (std::has_single_bit(volume(local)) || candidates_.size() == 1) {
      volumes.push_back(volume(local));
    }
  }
  std::sort(volumes.begin(), volumes.end());
  volumes.erase(std::unique(volumes.begin(), volumes.end()), volumes.end());
  while (volumes.size() > kCoarseVolumes) {
    std::vector<std::size_t> fewer;
    for (std::size_t i = (volumes.size() + 1) % 2; i < volumes.size(); i += 2) {
      fewer.push_back(volumes[i]);
    }
    volumes = fewer;
  }
  const auto distance = [](std::size_t items) {
    return std::abs(std::log2(static_cast<double>(items) / kMiddle));
  };
  std::stable_sort(volumes.begin(), volumes.end(),
                   [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  // The largest number comes first: it suits drivers of CPUs, which compile for each size.
  const auto greatest = std::max_element(volumes.begin(), volumes.end());
  if (greatest != volumes.end()) std::rotate(volumes.begin(), greatest, greatest + 1);
  for (const std::size_t items : volumes) {
    for (const NDSize *local : shapes(candidates_, items)) {
      if (local != nullptr) plan(*local);
    }
  }
}

void Search::plan_neighbours(const NDSize &of) {
  // A step goes to the next candidate in one dimension, or moves a factor of 2 from one dimension
  // to another.
  for (std::size_t i = 0; i < 3; ++i) {
    const NDSize *below = nullptr;
    const NDSize *above = nullptr;
    for (const NDSize &c : candidates_) {
      if (c[(i + 1) % 3] != of[(i + 1) % 3] || c[(i + 2) % 3] != of[(i + 2) % 3]) continue;
      if (c[i] < of[i] && (below == nullptr || c[i] > (*below)[i])) below = &c;
      if (c[i] > of[i] && (above == nullptr || c[i] < (*above)[i])) above = &c;
    }
    if (above != nullptr) plan(*above);
    if (below != nullptr) plan(*below);
    for (std::size_t j = 0; j < 3; ++j) {
      NDSize moved = of;
      if (i == j || moved[j] % 2 != 0) continue;
      moved[i] *= 2;
      moved[j] /= 2;
      if (std::binary_search(candidates_.begin(), candidates_.end(), moved)) plan(moved);
    }
  }
}

std::optional<NDSize> Search::next() {
  if (done_ == planned_.size() && !full_) {
    const std::vector<NDSize> order = ranking();
    if (!order.empty()) plan_neighbours(order.front());
  }
  if (done_ == planned_.size()) return std::nullopt;
  return planned_[done_];
}

void Search::record_time(const NDSize &local, double nanoseconds) {
  measured_[local] = nanoseconds;
  while (done_ < planned_.size() && measured_.count(planned_[done_]) != 0) ++done_;
}

std::vector<NDSize> Search::ranking() const {
  std::vector<NDSize> order;
  for (const auto &[local, time] : measured_) {
    if (std::isfinite(time)) order.push_back(local);
  }
  std::stable_sort(order.begin(), order.end(), [&](const NDSize &a, const NDSize &b) {
    return measured_.at(a) < measured_.at(b);
  });
  return order;
}

double Search::best() const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto &[local, time] : measured_) least = std::min(least, time);
  return least;
}

bool clearly_slower(const Statistics &samples, double best) {
  if (samples.samples == 0) return false;
  const double hope = samples.samples == 1 ? 3 : samples.samples == 2 ? 1.5 : 1.1;
  return samples.least > hope * best;
}

void Budget::spend(double seconds) {
  left_ -= seconds;
  if (jobs_ > 0) --jobs_;
}

std::vector<ProblemSize> tuning_sizes(const std::vector<ProblemSize> &listed, std::uint64_t most) {
  std::vector<ProblemSize> result;
  for (unsigned i = 0; i < packs::kSizeClasses; ++i) {
    const auto wanted = static_cast<packs::SizeClass>(i);
    std::optional<ProblemSize> best;
    ProblemSize greatest = listed.empty() ? ProblemSize{1024, 1024, 1} : listed.front();
    for (const ProblemSize &size : listed) {
      if (size.elements() > greatest.elements()) greatest = size;
      if (packs::size_class(size.elements()) != wanted || size.elements() > most) continue;
      if (!best || size.elements() > best->elements()) best = size;
    }
    if (!best) {
      while (greatest.elements() > most || packs::size_class(greatest.elements()) > wanted) {
        greatest = halved(greatest);
      }
      while (packs::size_class(greatest.elements()) < wanted) greatest = doubled(greatest);
      best = greatest;
    }
    if (best->elements() <= most) result.push_back(*best);
  }
  return result;
}

bool clock_makes_sense(const std::vector<Clocked> &launches) {
  std::uint64_t last = 0;
  double greatest_part = 0;
  for (const Clocked &launch : launches) {
    if (launch.stages.empty()) return false;
    for (const auto &[start, end] : launch.stages) {
      if (start == 0 || end <= start || start < last) return false;
      last = start;
    }
    const auto span = static_cast<double>(launch.stages.back()[1] - launch.stages.front()[0]);
    if (span > launch.host) return false;
    greatest_part = std::max(greatest_part, span / launch.host);
  }
  return greatest_part >= kMinPart;
}

}  // namespace kiln::builder
