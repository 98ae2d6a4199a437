// SPDX-License-Identifier: Apache-2.0
// Choosing a work-group size that also meets a variant's requirements for launches. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "kiln/packs/format.hpp"
#include "kiln/packs/status.hpp"

namespace kiln::runtime {

using NDSize = std::array<std::size_t, 3>;

// The limits of the built kernel and the device.
struct WorkGroupLimits {
  std::size_t work_group_size = 1;     // CL_KERNEL_WORK_GROUP_SIZE
  std::size_t preferred_multiple = 1;  // CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
  NDSize work_item_sizes{1, 1, 1};     // CL_DEVICE_MAX_WORK_ITEM_SIZES
  NDSize required{0, 0, 0};            // reqd_work_group_size of the kernel; zeros: none
  std::size_t adjacent_threads = 0;    // the vendor's number for this model; 0: none
};

// Returns the size class under which local sizes are stored, by the launch's number of work-items.
packs::SizeClass size_class(const NDSize &global);

// Returns whether a program built with these options may have non-uniform work-groups, if the
// device supports them: -cl-std=CL2.0 or later without -cl-uniform-work-group-size.
bool options_allow_non_uniform_work_groups(const char *options);

// Returns the local size for a launch over `global` work-items. If `wanted[0]` is 0, chooses one: x
// starts at the number of adjacent threads, or at the preferred multiple if the vendor states none;
// below 8 it is doubled, and it is halved if the range is narrower or the limit lower. Then rows
// are added up to four times that number, at least 64 and at most 128 work-items. A wanted size is
// halved, largest dimension first, until it fits the limits; a kernel's required size wins over
// everything. Unused dimensions are 1.
NDSize fit_local_size(const NDSize &global, const NDSize &wanted, const WorkGroupLimits &limits);

// Returns the number of work-items in a group; the largest std::size_t on overflow.
std::size_t volume(const NDSize &size);

// Returns the first `dimensions` sides as text: "8x4".
std::string size_text(unsigned dimensions, const NDSize &size);

// Returns `global` rounded up to multiples of `local`. Leaves a dimension that would overflow.
NDSize pad_global_size(const NDSize &global, const NDSize &local);

// Rules for code whose compiler merges several work-items into one, such as Mali's vectoriser.
struct LaunchRules {
  NDSize multiple{1, 1, 1};  // NDRanges and work-groups must be multiples of this
  bool no_offset = false;    // NDRanges must begin at 0
};

// Adds the rule of one requirement: range_multiple or no_global_offset; others demand nothing.
void add_rule(std::string_view requirement, LaunchRules *rules);

// Collects the rules of a variant's requirements, a list of texts. If there are several
// range_multiple, all are met.
template <typename Requirements>
LaunchRules launch_rules(const Requirements &requirements) {
  LaunchRules rules;
  for (const auto &requirement : requirements) add_rule(requirement, &rules);
  return rules;
}

// Makes a chosen local size a multiple: rounds it up, or down if the limits demand that. Fails with
// Code::bad_argument if no multiple fits the limits, or if the size is no multiple and the
// application asked for it (`asked`) or the kernel requires it.
packs::Status apply_multiple(const LaunchRules &rules, const WorkGroupLimits &limits, bool asked,
                             NDSize *local);

}  // namespace kiln::runtime
