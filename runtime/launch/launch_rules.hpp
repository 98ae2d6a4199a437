// SPDX-License-Identifier: Apache-2.0
// What a variant's requirements demand of every launch. Pure.
#pragma once

#include <string_view>

#include "kiln/packs/status.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::runtime {

// Of code that a compiler made of several work-items each, such as Mali's vectoriser.
struct LaunchRules {
  NDSize multiple{1, 1, 1};  // NDRanges and work-groups are multiples of it
  bool no_offset = false;    // NDRanges begin at 0
};

// Takes one requirement in: range_multiple or no_global_offset; others demand nothing.
void add_rule(std::string_view requirement, LaunchRules *rules);

// By a variant's requirements, whose elements are texts. Of several range_multiple each is met.
template <typename Requirements>
LaunchRules launch_rules(const Requirements &requirements) {
  LaunchRules rules;
  for (const auto &requirement : requirements) add_rule(requirement, &rules);
  return rules;
}

// Makes a chosen local size a multiple: rounds it up, or down to where the limits allow that.
// Fails with Code::bad_argument for a size that the application asked for (`asked`) or the kernel
// requires and that is no multiple, and where no multiple fits the limits.
packs::Status apply_multiple(const LaunchRules &rules, const WorkGroupLimits &limits, bool asked,
                             NDSize *local);

}  // namespace kiln::runtime
