// SPDX-License-Identifier: Apache-2.0
// The layer's settings from the environment, read once, when the layer is loaded. A process that
// runs with another user's rights has no settings.
#pragma once

#include <string>
#include <vector>

namespace kiln::layer {

#ifdef _WIN32
inline constexpr char kSystemPacks[] = "";  // there is no such folder that only administrators make
#else
inline constexpr char kSystemPacks[] = "/usr/share/kiln/packs";
#endif

// What a program may at most need; a program that needs more is refused. In ascending order.
enum class Require {
  nothing,
  il,     // PTX, or the application's own SPIR-V, compiled by the driver
  exact,  // a binary for this device and driver
  final,  // one whose first launch compiles nothing
};

struct Settings {
  bool record = false;  // KILN_LAYER=record, and there is a spool
  bool serve = false;   // KILN_LAYER=serve: `kiln serve` is running the application
  std::string spool;    // KILN_SPOOL: folder for recorded programs
  // KILN_PACK: files, and folders of *.kiln files; otherwise the existing folders of KILN_PACK_PATH
  // or kSystemPacks.
  std::vector<std::string> packs;
  std::string overlay;  // KILN_OVERLAY: folder; empty: none
  // KILN_SHARED: folder that users share, and `overlay` is this user's in it; empty: none.
  std::string shared;
  std::vector<std::string> keys;  // KILN_KEYS: public keys whose packs of other users are used
  bool tuned = true;              // use measured work-group sizes; off with KILN_TUNED=0
  std::string report;             // KILN_REPORT: file for a JSON line per program; empty: none
  std::string report_folder;      // KILN_REPORT_DIR: the same as a file per process; empty: none
  Require require = Require::nothing;  // KILN_REQUIRE; while serving only
  // KILN_RUNG; while serving only: the rung at which loads begin, and the KILN_LOAD_* bits that
  // leave out the rungs above it. No overlay is used then. Empty and 0: none.
  std::string rung;
  unsigned above_rung = 0;
};

const Settings &settings();

// The words of KILN_REQUIRE, from Require::il on.
inline constexpr const char *kRequireWords[] = {"il", "exact", "final"};

// Returns the word of the settings' requirement; empty if nothing is required.
const char *require_word();

// Prints a line to standard error, after "kiln layer: ".
void complain(const std::string &text);
// Prints the first such complaint of the process, and drops the others.
void complain_once(const std::string &text);

}  // namespace kiln::layer
