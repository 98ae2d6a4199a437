// SPDX-License-Identifier: Apache-2.0
// Reads the requirements, and rounds work-groups.
#include "runtime/launch/launch_rules.hpp"

#include <numeric>

#include "runtime/identity/requirements.hpp"
#include "runtime/load/tuning.hpp"

namespace kiln::runtime {
namespace {

using packs::Code;
using packs::Status;

bool fits(const NDSize &local, const WorkGroupLimits &limits) {
  return local[0] <= limits.work_item_sizes[0] && local[1] <= limits.work_item_sizes[1] &&
         local[2] <= limits.work_item_sizes[2] && volume(local) <= limits.work_group_size;
}

}  // namespace

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
    // The side that is the most factors long gives half of them.
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
