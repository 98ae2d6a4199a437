// SPDX-License-Identifier: Apache-2.0
// Telling a recording what was changed of its launches.
#pragma once

#include <vector>

#include "runtime/launch/recording.hpp"

namespace kiln::runtime {

// What was set is what will be recorded.
void forget_changes(Step *step);

// Updates the command buffer where steps are stale. A failure leaves it and them as they were: the
// driver cannot, or cannot while the command buffer is running.
Status update_command_buffer(const Recording &recording, std::vector<Step> *steps);

// Enqueues Qualcomm's recording with all changes since it was recorded, which go for this run
// alone;
// `*changed` says whether there are any.
cl_int enqueue_recording(const Recording &recording, cl_command_queue queue,
                         const std::vector<Step> &steps, const Waits &waits, cl_event *event,
                         bool *changed);

}  // namespace kiln::runtime
