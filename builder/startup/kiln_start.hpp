// SPDX-License-Identifier: Apache-2.0
// Programs started through Kiln, to be compared with bare_start.hpp.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/startup/bare_start.hpp"
#include "kiln/kiln.hpp"

namespace kiln::builder {

// Everything that the runtime chooses here is for small problems.
inline constexpr unsigned kSmall = KILN_LOAD_FOR_SMALL;

// What Kiln is asked to load, and how.
struct KilnStart {
  std::string pack_path;
  std::string overlay;               // folder; empty: none
  kiln_rung rung = KILN_RUNG_EXACT;  // that everything must come from
  unsigned flags = KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE;
  bool finish = false;  // afterwards make the overlay's binaries final
  // The drivers' caches of this process, to see in them what launches compile; that takes time, so
  // such a start is not measured. Empty: not looked at.
  std::string caches{};
};

// In a child process: opens Kiln, loads every item and launches it unless `launches` is false.
// After a failure `*out` holds the times up to it.
Status start_kiln(const OpenedDevice &child, const std::vector<StartItem> &items,
                  const KilnStart &how, bool launches, StartTimes *out);

}  // namespace kiln::builder
