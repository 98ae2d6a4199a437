// SPDX-License-Identifier: Apache-2.0
// A driver that is told to be a GPU that is not there: its device, whose jobs run in a process of
// their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "builder/machine/device_info.hpp"
#include "builder/process/run_tool.hpp"

namespace kiln::builder {

inline constexpr char kPosedCaches[] = "listed";  // in a pose's folder, and in a server's

struct Pose {
  std::string name;      // "neo:skl"
  std::string model;     // "skl"
  std::string finisher;  // "virtual-neo 1"
  // Returns a request for this program with these arguments, whose only device is the driver as
  // that GPU. The program reads and writes files in `folder`, if that is not empty.
  std::function<ProcessRequest(std::vector<std::string> arguments, const std::string &folder)>
      request;
  // Outlives the device, and gets the driver's caches from when it was listed, in kPosedCaches, if
  // the request names them as kListedCaches; empty if no caches are kept.
  std::string folder;
  int slowness = 1;  // the time limits are that many times longer
};

// Returns the GPU. The driver reads only once in a process which GPU to be, and needs its own
// libraries, so another process of this program runs the jobs in the environment of the request:
// one after another, for as long as no driver dies and no other device's job comes. compile() must
// be called from a single-threaded process. Fails with Code::no_device if the driver dies or does
// not report exactly one device.
Result<DeviceInfo> posing_device(Pose pose);

}  // namespace kiln::builder
