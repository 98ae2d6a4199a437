// SPDX-License-Identifier: Apache-2.0
// The work-group size that a driver suggests through cl_khr_suggested_local_work_size.
#pragma once

#include "runtime/device/device.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::runtime {

using SuggestLocalSize = clGetKernelSuggestedLocalWorkSizeKHR_fn;

// Returns the device's function; null if it has none or must not be asked. If a device's binaries
// hold code for the sizes that Kiln chooses, any other size would compile at the launch.
SuggestLocalSize suggest_function(const Device &device);

// Returns the range to ask the driver about: `global` in whole groups of the size that Kiln would
// choose without a suggestion. For a range with a prime side, drivers suggest groups of one
// work-item.
NDSize suggestion_range(const NDSize &global, const WorkGroupLimits &limits);

// Fails with Code::over_limit if a suggestion for that range cannot be launched, with a message
// such as "the driver suggests 512x4: at most 1024 work-items fit": a side is 0, wider than the
// range or over the device's limit, or there are too many work-items. Pure.
Status check_suggestion(unsigned dimensions, const NDSize &suggested, const NDSize &range,
                        const WorkGroupLimits &limits);

// The question to the driver. The kernel's arguments must be set; `limits` must not require a size.
struct SuggestionQuery {
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  unsigned dimensions = 1;
  NDSize global{1, 1, 1};
};

// Asks, which may take as long as a driver likes, and checks the answer; its unused dimensions are
// 1. Fails with Code::opencl if the driver does, and otherwise as check_suggestion() does. Sets
// `*out` to the driver's answer, also on failure, or to zeros if there was none.
Status ask_suggestion(SuggestLocalSize suggest, const SuggestionQuery &query,
                      const WorkGroupLimits &limits, NDSize *out);

}  // namespace kiln::runtime
