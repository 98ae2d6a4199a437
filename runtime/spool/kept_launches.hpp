// SPDX-License-Identifier: Apache-2.0
// Programs that the overlay keeps, of drivers that compile at first launches: when launches of new
// kinds are over, binaries with their code are kept in place of those without.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/spool/launches.hpp"

namespace kiln::layer {

// Any thread may call anything.
class KeptLaunches {
 public:
  // A launch of a kept program that succeeded. Takes over the event, which is the launch's. Holds
  // the program until it is settled.
  void add(const Launches::Fresh &launch, cl_event event);

  // Writes the files of programs with a finished launch again. Returns at once if nothing waits.
  void settle();

  // References that the application does not know of.
  cl_uint held(cl_program program) const;

 private:
  struct Waiting {
    Launches::Fresh launch;
    cl_event event;
  };

  std::vector<Waiting> take_all();

  mutable std::mutex mutex_;
  std::vector<Waiting> waiting_;
  std::atomic<bool> is_waiting_{false};
  std::atomic_flag settling_ = ATOMIC_FLAG_INIT;
};

// Never destroyed, as Objects.
KeptLaunches &kept_launches();

}  // namespace kiln::layer
