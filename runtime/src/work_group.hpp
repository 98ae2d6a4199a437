// Choosing a work-group size. Pure.
#pragma once

#include <array>
#include <cstddef>

namespace kiln::runtime {

using Size3 = std::array<std::size_t, 3>;

// What the built kernel and the device allow.
struct WorkGroupLimits {
  std::size_t work_group_size = 1;     // CL_KERNEL_WORK_GROUP_SIZE
  std::size_t preferred_multiple = 1;  // CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
  Size3 work_item_sizes{1, 1, 1};      // CL_DEVICE_MAX_WORK_ITEM_SIZES
  Size3 required{0, 0, 0};             // reqd_work_group_size of the kernel; zeros: none
};

// The local size of a launch over `global` work-items. `wanted[0]` 0 makes one: the
// preferred multiple in x (less where the range is narrower), then rows up to 64
// work-items. What is wanted is halved, largest dimension first, until it fits the
// limits; a kernel's required size wins over everything. Unused dimensions are 1.
Size3 fit_local_size(const Size3 &global, const Size3 &wanted, const WorkGroupLimits &limits);

// `global` rounded up to multiples of `local`. A dimension that would overflow is left.
Size3 pad_global_size(const Size3 &global, const Size3 &local);

}  // namespace kiln::runtime
