// SPDX-License-Identifier: Apache-2.0
// The first launch of a kernel, behind a marker: some drivers compile or link then, and some die of
// it. The marker stays until the command is complete, so that a death is seen by the next start,
// which takes a lower rung.
#pragma once

#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// One launch. Any thread may make one; of launches of one kernel at a time the first is marked.
class FirstLaunch {
 public:
  // Before the launch: writes the marker if one is needed.
  FirstLaunch(const LoadedProgram &program, unsigned index);
  // The same on the heap; null if none is needed.
  static std::unique_ptr<FirstLaunch> mark(const LoadedProgram &program, unsigned index) {
    if (!program.launched.load(std::memory_order_relaxed)) program.launched = true;
    if (program.to_prove.load(std::memory_order_relaxed) == 0) return nullptr;
    auto first = std::make_unique<FirstLaunch>(program, index);
    return first->marked() ? std::move(first) : nullptr;
  }
  FirstLaunch(const FirstLaunch &) = delete;
  FirstLaunch &operator=(const FirstLaunch &) = delete;
  ~FirstLaunch();  // of a launch that was refused: takes the marker away

  // Whether end_with() wants an event.
  bool marked() const { return slot_ >= 0; }
  // After the launch: the marker goes when the event is complete. Does not keep the event.
  void end_with(cl_event event);

 private:
  const LoadedProgram &program_;
  BlobUse subject_;
  std::uint64_t bit_ = 0;
  int slot_ = -1;
};

}  // namespace kiln::runtime
