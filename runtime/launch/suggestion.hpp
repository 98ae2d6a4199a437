// SPDX-License-Identifier: Apache-2.0
// The work-group size that a driver suggests, by cl_khr_suggested_local_work_size.
#pragma once

#include "runtime/device/device.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::runtime {

using SuggestLocalSize = clGetKernelSuggestedLocalWorkSizeKHR_fn;

// The device's function, or null: it has none, or is not asked. A device whose binaries hold code
// for the sizes that Kiln chooses itself would compile at the launch with any other.
SuggestLocalSize suggest_function(const Device &device);

// The range that the driver is asked for: `global` in whole groups of the size that is made
// without a suggestion. A range with a prime side would get groups of one work-item.
NDSize suggestion_range(const NDSize &global, const WorkGroupLimits &limits);

// Why a suggestion for that range cannot be launched, as "the driver suggests 512x4: at most 1024
// work-items fit": a side is 0, or wider than the range or than the device takes, or there are too
// many work-items. Fails with Code::over_limit. Pure.
Status check_suggestion(unsigned dimensions, const NDSize &suggested, const NDSize &range,
                        const WorkGroupLimits &limits);

// What is asked of the driver. The kernel's arguments must be set; `limits` must not require a
// size.
struct SuggestionQuery {
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  unsigned dimensions = 1;
  NDSize global{1, 1, 1};
};

// Asks, which may take as long as a driver likes, and checks the answer, whose unused dimensions
// are 1. Fails with Code::opencl where the driver does; as check_suggestion() does otherwise.
// `*out` is what the driver said, zeros where it said nothing, also upon failure.
Status ask_suggestion(SuggestLocalSize suggest, const SuggestionQuery &query,
                      const WorkGroupLimits &limits, NDSize *out);

}  // namespace kiln::runtime
