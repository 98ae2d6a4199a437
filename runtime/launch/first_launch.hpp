// SPDX-License-Identifier: Apache-2.0
// The first launch of a kernel, behind a marker: some drivers compile or link at that launch, and
// some die. The marker stays until the command is complete, so that the next start notices a death
// and takes a lower rung.
#pragma once

#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// One launch. Any thread may make one; of concurrent launches of a kernel, the first is marked.
class FirstLaunch {
 public:
  // Called before the launch: writes the marker if one is needed.
  FirstLaunch(const LoadedProgram &program, unsigned index);
  // Does the same on the heap; returns null if no marker is needed.
  static std::unique_ptr<FirstLaunch> mark(const LoadedProgram &program, unsigned index) {
    if (!program.launched.load(std::memory_order_relaxed)) program.launched = true;
    if (program.to_prove.load(std::memory_order_relaxed) == 0) return nullptr;
    auto first = std::make_unique<FirstLaunch>(program, index);
    return first->marked() ? std::move(first) : nullptr;
  }
  FirstLaunch(const FirstLaunch &) = delete;
  FirstLaunch &operator=(const FirstLaunch &) = delete;
  ~FirstLaunch();  // removes the marker if the launch was refused

  // Returns whether end_with() needs an event.
  bool marked() const { return marker_ != nullptr; }
  // Called after the launch: removes the marker once the event is complete. Does not keep the
  // event.
  void end_with(cl_event event);

 private:
  const LoadedProgram &program_;
  DriverTask task_;
  std::uint64_t bit_ = 0;
  std::unique_ptr<Marker> marker_;
};

}  // namespace kiln::runtime
