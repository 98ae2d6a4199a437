// SPDX-License-Identifier: Apache-2.0
// What the environment says to the layer. Read once, when the layer is loaded; a process that runs
// with another user's rights has no settings.
#pragma once

#include <string>
#include <vector>

namespace kiln::layer {

inline constexpr char kSystemPacks[] = "/usr/share/kiln/packs";

struct Settings {
  bool record = false;  // KILN_LAYER=record, and there is a spool
  std::string spool;    // KILN_SPOOL: folder that programs are recorded in
  // KILN_PACK: files, and folders of *.kiln files; else what there is of KILN_PACK_PATH, folders,
  // or of kSystemPacks.
  std::vector<std::string> packs;
  std::string overlay;  // KILN_OVERLAY: folder; empty: none
  bool tuned = true;    // unless KILN_TUNED=0: measured work-group sizes are used
  std::string report;   // KILN_REPORT: file that gets a line of JSON a program; empty: none
};

const Settings &settings();

// One line on standard error, after "kiln layer: ".
void complain(const std::string &text);

}  // namespace kiln::layer
