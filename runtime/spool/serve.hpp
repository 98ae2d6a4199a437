// SPDX-License-Identifier: Apache-2.0
// Programs from packs, in the context of an application that knows nothing of them.
#pragma once

#include <string>

#include "runtime/spool/devices.hpp"
#include "runtime/spool/kept.hpp"
#include "runtime/spool/tuned_kernels.hpp"

namespace kiln::layer {

struct Served {
  cl_program program = nullptr;  // the caller's; null: there is none, and `reason` says why
  std::string rung;              // of the ladder
  bool is_unknown = false;       // no pack has it for each of the devices, nor the overlay
  std::string reason;
  std::string miss;     // why it was compiled, if it was
  std::string nearest;  // then the target of the pack that is closest, as JSON; may be empty
  std::vector<std::string> logs;  // of the builds that the binaries are of, where the pack has them
  KeptFile kept;                  // that it is of, if it is
  TunedProgram tuned;             // of one device's alone
};

// Loads the program from the packs of the settings, or what keep_program() kept: from the overlay,
// as an exact or intermediate binary, or by compiling its source, which the overlay then keeps. For
// several devices it is loaded for each, and made once more of all their binaries; where one of
// them has none it is unknown. Takes any thread.
Served serve_program(const std::string &name, cl_context context, const Devices &devices);

// Whether a pack or the overlay has a binary of the program for each of the devices. On another
// device it may not compile.
bool can_serve(const std::string &name, const Devices &devices);

// Whether the overlay has a link for each of the devices that the program is a part of.
bool can_serve_link_of(const std::string &name, const Devices &devices);

}  // namespace kiln::layer
