// SPDX-License-Identifier: Apache-2.0
// Notices when an application uses an OpenCL driver past the layer, which cannot say so itself:
// nothing is served then.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "builder/base/this_process.hpp"

namespace kiln::builder {

// What a process has mapped.
struct MappedDriver {
  bool has_layer = false;
  std::string driver{};  // file name of an OpenCL driver; empty: none
};

// Reads /proc/PID/maps. `drivers` are libraries as .icd files name them; what follows ".so" in
// names may differ, as links to versions do. Pure.
MappedDriver mapped_driver(std::string_view maps, std::string_view layer,
                           const std::vector<std::string> &drivers);

class PastLayer {
 public:
  // `layer` is the layer's file.
  PastLayer(const std::string &layer, std::vector<std::string> drivers);

  // Looks at the processes below this one, except those of this executable.
  void look();

  // Returns a process that had a driver for half a second and never had the layer, as "NAME
  // (process NUMBER) uses DRIVER"; empty if there was none. A loader opens drivers before layers,
  // which may take as long, so call it when the application has ended.
  std::string found() const;

 private:
  struct Seen {
    bool has_layer = false;
    std::string text{};
    Clock::time_point first{}, last{};  // with a driver
  };
  void look_below(pid_t process);

  std::string layer_;
  std::vector<std::string> drivers_;
  std::string own_;  // this executable
  std::map<pid_t, Seen> seen_;
};

}  // namespace kiln::builder
