// SPDX-License-Identifier: Apache-2.0
// Chooses a size if none was measured, and fits it to the range, the device's limits and the
// requirements.
#include "runtime/launch/work_group.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "kiln/packs/text.hpp"
#include "runtime/identity/requirements.hpp"
#include "runtime/load/tuning.hpp"

namespace kiln::runtime {

namespace {

// Work-items in a group whose size was not measured: four preferred multiples, within these limits.
// On an H200, whose multiple is 32, groups of 128 took 0.96 times as long as groups of 64 on
// average, and half as long if each work-item does little (docs/understand/measurements.md).
constexpr std::size_t kFewest = 64;
constexpr std::size_t kMax = 128;
constexpr std::size_t kNarrowest = 8;  // in x, even if the preferred multiple is smaller

NDSize guess(const NDSize &global, const WorkGroupLimits &limits) {
  const std::size_t most = std::min(limits.work_item_sizes[0], limits.work_group_size);
  const std::size_t multiple = std::max<std::size_t>(
      limits.adjacent_threads != 0 ? limits.adjacent_threads : limits.preferred_multiple, 1);
  std::size_t x = multiple;
  while (x < kNarrowest) x *= 2;
  while (x > 1 && (x > most || x / 2 >= global[0])) x /= 2;
  NDSize local{x, 1, 1};
  const std::size_t items =
      std::min(std::min(std::max(4 * multiple, kFewest), kMax), limits.work_group_size);
  while (local[1] < global[1] && 2 * local[1] * x <= items) local[1] *= 2;
  // If the range has few rows, more work-items go into x.
  while (local[0] < global[0] && 2 * local[0] * local[1] <= items && 2 * local[0] <= most) {
    local[0] *= 2;
  }
  return local;
}

using packs::Code;
using packs::Status;

bool fits(const NDSize &local, const WorkGroupLimits &limits) {
  return local[0] <= limits.work_item_sizes[0] && local[1] <= limits.work_item_sizes[1] &&
         local[2] <= limits.work_item_sizes[2] && volume(local) <= limits.work_group_size;
}

}  // namespace

std::size_t volume(const NDSize &size) {
  constexpr std::size_t kLargest = std::numeric_limits<std::size_t>::max();
  std::size_t items = 1;
  for (const std::size_t side : size) {
    if (side != 0 && items > kLargest / side) return kLargest;
    items *= side;
  }
  return items;
}

std::string size_text(unsigned dimensions, const NDSize &size) {
  std::string text = packs::decimal(size[0]);
  for (unsigned i = 1; i < dimensions; ++i) text += "x" + packs::decimal(size[i]);
  return text;
}

packs::SizeClass size_class(const NDSize &global) { return packs::size_class(volume(global)); }

bool options_allow_non_uniform_work_groups(const char *options) {
  constexpr char kStandard[] = "-cl-std=CL";
  const char *version = nullptr;
  for (const char *at = options; (at = std::strstr(at, kStandard)) != nullptr;) {
    at += sizeof(kStandard) - 1;
    version = at;  // the last one counts
  }
  // "-cl-std=CLC++" counts too: C++ for OpenCL came after 2.0.
  return version != nullptr && *version != '1' &&
         std::strstr(options, "-cl-uniform-work-group-size") == nullptr;
}

NDSize fit_local_size(const NDSize &global, const NDSize &wanted, const WorkGroupLimits &limits) {
  if (limits.required[0] != 0) {
    return {limits.required[0], std::max<std::size_t>(limits.required[1], 1),
            std::max<std::size_t>(limits.required[2], 1)};
  }
  NDSize local = wanted[0] != 0 ? wanted : guess(global, limits);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t most =
        std::max<std::size_t>(1, std::min(limits.work_item_sizes[i], limits.work_group_size));
    local[i] = std::min(std::max<std::size_t>(local[i], 1), most);
  }
  while (volume(local) > std::max<std::size_t>(limits.work_group_size, 1)) {
    std::size_t &largest = *std::max_element(local.begin(), local.end());
    largest /= 2;
  }
  return local;
}

NDSize pad_global_size(const NDSize &global, const NDSize &local) {
  NDSize padded = global;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t rest = padded[i] % local[i];
    const std::size_t more = rest == 0 ? 0 : local[i] - rest;
    if (padded[i] <= std::numeric_limits<std::size_t>::max() - more) padded[i] += more;
  }
  return padded;
}

void add_rule(std::string_view requirement, LaunchRules *rules) {
  if (requirement == kNoGlobalOffset) rules->no_offset = true;
  if (requirement.substr(0, kRangeMultiple.size()) != kRangeMultiple) return;
  const NDSize factor = parse_range_multiple(requirement.substr(kRangeMultiple.size()));
  for (std::size_t i = 0; i < 3; ++i) {
    if (factor[i] != 0) rules->multiple[i] = std::lcm(rules->multiple[i], factor[i]);
  }
}

packs::Status apply_multiple(const LaunchRules &rules, const WorkGroupLimits &limits, bool asked,
                             NDSize *local) {
  const NDSize &factor = rules.multiple;
  if (divides(factor, *local)) return {};
  if (asked || limits.required[0] != 0) {
    return Status::error(
        Code::bad_argument,
        {"work-groups of ", size_text(3, *local), " work-items are no multiple of ",
         size_text(3, factor), ", which the variant requires"});
  }
  NDSize rounded;
  for (std::size_t i = 0; i < 3; ++i) {
    rounded[i] = ((*local)[i] + factor[i] - 1) / factor[i] * factor[i];
  }
  while (!fits(rounded, limits)) {
    // Halves the side that holds the most factors.
    std::size_t longest = 0;
    for (std::size_t i = 1; i < 3; ++i) {
      if (rounded[i] / factor[i] > rounded[longest] / factor[longest]) longest = i;
    }
    const std::size_t half = rounded[longest] / factor[longest] / 2;
    if (half == 0) {
      return Status::error(Code::bad_argument,
                           {"no work-group that is a multiple of ", size_text(3, factor),
                            " work-items fits the device's limits"});
    }
    rounded[longest] = half * factor[longest];
  }
  *local = rounded;
  return {};
}

}  // namespace kiln::runtime
