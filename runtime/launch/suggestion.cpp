// SPDX-License-Identifier: Apache-2.0
// Asks a driver for a work-group size, and rejects answers that cannot be launched.
#include "runtime/launch/suggestion.hpp"

namespace kiln::runtime {

SuggestLocalSize suggest_function(const Device &device) {
  if (device.description.finishing == Finishing::launches ||
      !device.capabilities.has_extension("cl_khr_suggested_local_work_size")) {
    return nullptr;
  }
  return extension_function<SuggestLocalSize>(*device.cl, device.platform,
                                              "clGetKernelSuggestedLocalWorkSizeKHR");
}

NDSize suggestion_range(const NDSize &global, const WorkGroupLimits &limits) {
  return pad_global_size(global, fit_local_size(global, {0, 0, 0}, limits));
}

Status check_suggestion(unsigned dimensions, const NDSize &suggested, const NDSize &range,
                        const WorkGroupLimits &limits) {
  const auto refused = [&](std::initializer_list<std::string_view> why) {
    return Status::error(Code::over_limit, {"the driver suggests ",
                                            size_text(dimensions, suggested), ": ", concat(why)});
  };
  for (unsigned i = 0; i < dimensions; ++i) {
    const std::string side = decimal(i);
    if (suggested[i] == 0) return refused({"nothing in dimension ", side});
    if (suggested[i] > limits.work_item_sizes[i]) {
      return refused({"at most ", decimal(limits.work_item_sizes[i]), " fit in dimension ", side});
    }
    if (suggested[i] > range[i]) {
      return refused({"the range has ", decimal(range[i]), " in dimension ", side});
    }
  }
  if (volume(suggested) <= limits.work_group_size) return {};
  return refused({"at most ", decimal(limits.work_group_size), " work-items fit"});
}

Status ask_suggestion(SuggestLocalSize suggest, const SuggestionQuery &query,
                      const WorkGroupLimits &limits, NDSize *out) {
  const NDSize range = suggestion_range(query.global, limits);
  const NDSize offset{0, 0, 0};  // rusticl 25.0 rejects NULL
  NDSize suggested{0, 0, 0};
  const cl_int code = suggest(query.queue, query.kernel, query.dimensions, offset.data(),
                              range.data(), suggested.data());
  if (code != CL_SUCCESS) {
    *out = {0, 0, 0};
    return cl_failure("clGetKernelSuggestedLocalWorkSizeKHR", code);
  }
  for (unsigned i = query.dimensions; i < 3; ++i) suggested[i] = 1;
  *out = suggested;
  return check_suggestion(query.dimensions, suggested, range, limits);
}

}  // namespace kiln::runtime
