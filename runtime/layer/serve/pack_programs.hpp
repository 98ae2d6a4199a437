// SPDX-License-Identifier: Apache-2.0
// Serves programs from packs, in the context of an application that knows nothing about packs.
#pragma once

#include <string>

#include "runtime/layer/base/devices.hpp"
#include "runtime/layer/serve/cached_programs.hpp"
#include "runtime/layer/serve/launch_markers.hpp"
#include "runtime/layer/serve/tuned_kernels.hpp"

namespace kiln::layer {

struct Served {
  cl_program program = nullptr;  // owned by the caller; null: see `reason`
  std::string rung;              // the ladder's rung
  bool is_unknown = false;       // neither packs nor the overlay have it for every device
  std::string reason;
  std::string miss;                  // why it was compiled, if it was
  std::string nearest;               // then the pack's closest target, as JSON; may be empty
  std::vector<std::string> logs;     // build log per device, if the pack has them
  std::vector<std::string> kernels;  // names in the pack's order
  const char *options = nullptr;     // for building a program of its binary again; may be null
  LaunchFile launches;               // for new launches, if it came from a cached file
  TunedProgram tuned;                // for a single device only
  UnlaunchedPointer unlaunched;      // likewise
};

// Loads the program from the packs of the settings, or a cached program: from the
// overlay, as an exact or intermediate binary, or by compiling its source, and then the overlay
// stores the binary. For several devices, loads it for each, then makes one program from all
// binaries; if a device has no binary, the program is unknown. Thread-safe.
Served serve_program(const std::string &name, cl_context context, const Devices &devices);

// Returns whether a pack or the overlay has a binary of the program for every device. On another
// device it may not compile.
bool can_serve(const std::string &name, const Devices &devices);

// Returns whether packs or the overlay have, for every device, a link that the program is a part
// of.
bool can_serve_link_of(const std::string &name, const Devices &devices);

}  // namespace kiln::layer
