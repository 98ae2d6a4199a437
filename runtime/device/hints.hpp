// SPDX-License-Identifier: Apache-2.0
// Hints that a driver may be unable to follow: off unless asked for, left out without an error.
#pragma once

#include "kiln/kiln.h"
#include "runtime/identity/requirements.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::runtime {

// Hints for every queue of a context.
struct ContextHints {
  kiln_level performance = KILN_LEVEL_DEFAULT;  // cl_qcom_perf_hint
  kiln_level priority = KILN_LEVEL_DEFAULT;     // cl_qcom_priority_hint
};

// CL_CONTEXT_PLATFORM, both hints and the 0 at the end.
constexpr int kContextProperties = 7;

// Writes to `properties` the hints that the device has an extension for, and a 0. Returns their
// KILN_HINT_* bits.
unsigned add_context_hints(const Capabilities &device, const ContextHints &hints,
                           cl_context_properties *properties);

// Changes the performance of a context of the device. `level` must not be the default. Fails with
// Code::requirement without cl_qcom_perf_hint.
packs::Status set_performance(const OpenCL &cl, cl_platform_id platform, const Capabilities &device,
                              cl_context context, kiln_level level);

struct QueueHints {
  kiln_level priority = KILN_LEVEL_DEFAULT;  // cl_khr_priority_hints
  kiln_level throttle = KILN_LEVEL_DEFAULT;  // cl_khr_throttle_hints
};

// CL_QUEUE_PROPERTIES, both hints and the 0 at the end.
constexpr int kQueueProperties = 7;

// Writes hints as add_context_hints() does. Levels outside kiln_level count as no hint.
unsigned add_queue_hints(const Capabilities &device, const QueueHints &hints,
                         cl_queue_properties *properties);

// Returns the function that makes a queue with properties for the device: OpenCL 2.0's own, else
// the function of cl_khr_create_command_queue, else null.
decltype(&::clCreateCommandQueueWithProperties) create_queue_with_properties(
    const OpenCL &cl, cl_platform_id platform, const std::string &device_version,
    const Capabilities &device);

}  // namespace kiln::runtime
