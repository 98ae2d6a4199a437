// SPDX-License-Identifier: Apache-2.0
// Programs that the overlay keeps, of drivers that compile at first launches: when launches of new
// kinds are over, binaries with their code are kept in place of those without.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/layer/kept.hpp"
#include "runtime/layer/launches.hpp"

namespace kiln::layer {

// What an application gave for a program.
struct Given {
  std::string source;  // or a module's bytes
  std::string options;
  bool is_il = false;
};

// Any thread may call anything.
class KeptLaunches {
 public:
  // Watches the launches of a program, built by the driver or loaded by the layer, that `file`
  // keeps. Does nothing if the file has no path.
  void watch(cl_program program, const KeptFile &file, const Given &given);

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
  void keep_again(cl_program program, const std::string &path, const std::string &lines);

  mutable std::mutex mutex_;
  std::vector<Waiting> waiting_;
  std::map<cl_program, Given> given_;  // as Launches knows their files
  std::atomic<bool> is_waiting_{false};
  std::atomic_flag settling_ = ATOMIC_FLAG_INIT;
};

// Never destroyed, as Objects.
KeptLaunches &kept_launches();

}  // namespace kiln::layer
