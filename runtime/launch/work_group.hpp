// SPDX-License-Identifier: Apache-2.0
// Choosing a work-group size, also by what a variant's requirements demand of every launch. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "kiln/packs/format.hpp"
#include "kiln/packs/status.hpp"

namespace kiln::runtime {

using NDSize = std::array<std::size_t, 3>;

// What the built kernel and the device allow.
struct WorkGroupLimits {
  std::size_t work_group_size = 1;     // CL_KERNEL_WORK_GROUP_SIZE
  std::size_t preferred_multiple = 1;  // CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
  NDSize work_item_sizes{1, 1, 1};     // CL_DEVICE_MAX_WORK_ITEM_SIZES
  NDSize required{0, 0, 0};            // reqd_work_group_size of the kernel; zeros: none
  std::size_t adjacent_threads = 0;    // what the vendor states for this model; 0: nothing
};

// The class that local sizes are stored for: the pack's, by the launch's number of work-items.
packs::SizeClass size_class(const NDSize &global);

// Whether a program built with these options may be launched with non-uniform work-groups, if the
// device can: -cl-std=CL2.0 or later without -cl-uniform-work-group-size.
bool options_allow_non_uniform_work_groups(const char *options);

// The local size of a launch over `global` work-items. `wanted[0]` 0 makes one: the adjacent
// threads, or where the vendor states none the preferred multiple, in x (at least 8, as that
// number's double, its double, and so on; halved if the range is narrower or the limit lower), then
// rows up to four times that number, at least 64 and at most 128 work-items. What is wanted is
// halved, largest dimension first, until it fits the limits; a kernel's required size wins over
// everything. Unused dimensions are 1.
NDSize fit_local_size(const NDSize &global, const NDSize &wanted, const WorkGroupLimits &limits);

// Work-items of a group; the largest number if they overflow it.
std::size_t volume(const NDSize &size);

// "8x4" of the first `dimensions` sides.
std::string size_text(unsigned dimensions, const NDSize &size);

// `global` rounded up to multiples of `local`. A dimension that would overflow is left.
NDSize pad_global_size(const NDSize &global, const NDSize &local);

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
