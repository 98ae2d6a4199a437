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
  // The program, which the driver or the layer built, is the file's. Nothing where there is none.
  void watch(cl_program program, const KeptFile &file, const Given &given);

  // A launch of a kept program that succeeded. Takes over the event, which is the launch's. Holds
  // the program until it is settled.
  void add(const Launches::Fresh &launch, cl_event event);

  // Keeps again those programs of which a launch is over. Costs nothing where there is none.
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
