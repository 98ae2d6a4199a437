// SPDX-License-Identifier: Apache-2.0
// Reads the requirements, and rounds work-groups.
#include "runtime/launch/launch_rules.hpp"

#include <numeric>

#include "kiln/packs/text.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::runtime {
namespace {

using packs::Code;
using packs::concat;
using packs::decimal;
using packs::Status;

std::string text_of(const NDSize &size) {
  return concat({decimal(size[0]), "x", decimal(size[1]), "x", decimal(size[2])});
}

bool fits(const NDSize &local, const WorkGroupLimits &limits) {
  return local[0] <= limits.work_item_sizes[0] && local[1] <= limits.work_item_sizes[1] &&
         local[2] <= limits.work_item_sizes[2] &&
         local[0] * local[1] * local[2] <= limits.work_group_size;
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

bool is_multiple(const NDSize &size, const NDSize &factor) {
  return size[0] % factor[0] == 0 && size[1] % factor[1] == 0 && size[2] % factor[2] == 0;
}

packs::Status apply_multiple(const LaunchRules &rules, const WorkGroupLimits &limits, bool asked,
                             NDSize *local) {
  const NDSize &factor = rules.multiple;
  if (is_multiple(*local, factor)) return {};
  if (asked || limits.required[0] != 0) {
    return Status::error(Code::bad_argument,
                         {"work-groups of ", text_of(*local), " work-items are no multiple of ",
                          text_of(factor), ", which the variant requires"});
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
                           {"no work-group that is a multiple of ", text_of(factor),
                            " work-items fits the device's limits"});
    }
    rounded[longest] = half * factor[longest];
  }
  *local = rounded;
  return {};
}

}  // namespace kiln::runtime
