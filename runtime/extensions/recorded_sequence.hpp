// SPDX-License-Identifier: Apache-2.0
// Launches that are recorded once and run often.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kiln/sequence.h"
#include "runtime/extensions/recording.hpp"
#include "runtime/launch/enqueue.hpp"

namespace kiln::runtime {

// A sequence: add steps, end it, then run it. For one thread at a time.
struct Sequence {
  Sequence() = default;
  ~Sequence();  // out of line saves code size

  std::shared_ptr<const Loader> loader;
  Handle<cl_command_queue> queue;
  cl_command_queue_properties properties = 0;  // of `queue`
  std::vector<Step> steps;
  Recording recording;
  std::string reason;  // why no better way of recording is used
  std::string plain;   // `reason`, and why a changed run was not a recorded one; empty: none was
  bool ended = false;
};

Status begin_sequence(const Queue &queue, Sequence *out);
Status add_step(Sequence *sequence, Kernel *kernel, const kiln_ndrange &range);
// Gives a launch the arguments of `kernel`, and `range` if it is not null; all or nothing.
Status change_step(Sequence *sequence, unsigned launch, const Kernel &kernel,
                   const kiln_ndrange *range);
// Records through the best extension of the device that works.
Status end_sequence(Sequence *sequence);
// `event` may be null.
Status run_sequence(Sequence *sequence, const Waits &waits, Handle<cl_event> *event);

}  // namespace kiln::runtime

// What the handle of kiln/sequence.h points to.
struct kiln_sequence {
  kiln::runtime::Sequence sequence;
};
