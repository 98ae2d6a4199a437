// An application with one program, and a fleet of one device to build its pack on. Each
// function runs in child processes, as the driver of that test describes the machine.
#pragma once

#include <string>
#include <vector>

#include "kiln/packs/contents.hpp"
#include "support/scripted_driver.hpp"

namespace kiln::test {

// True, or says SKIP with the reason: the real driver behind the scripts is PoCL.
bool have_pocl();

// A script with one device that computes: `device` goes to the end of its table, before
// [platform.device.binary] or [[fault]], which can follow in it. The device takes IL when
// `device` says il = "...".
std::string computing_device(const std::string &device);

// out[i] = 3 * i + 1. The SPIR-V holds the entry point's name alone, which is all that the
// test driver reads of it.
packs::Contents triple_program();
// The kernel as a file, for a device's il_source.
std::string triple_file(const ScriptedDriver &driver);

// `kiln build` on the driver's device: writes the pack and returns its path. Fails the test
// where the build fails.
std::string build_pack(const ScriptedDriver &driver, const packs::Contents &base);

// How one start of the application went.
struct Start {
  builder::ChildResult child;
  std::string rung;    // "exact", "il", "source", or "error"
  std::string report;  // the load report's JSON
  std::string error;   // of a load that gave no program
  bool right = false;  // all values are
  bool recompiled = false;

  // The reason of that rung in the report; empty if it was used.
  std::string reason(const std::string &of_rung) const;
};

// Opens the pack, loads, launches, compares. `flags` as kiln_load takes them.
Start start(const ScriptedDriver &driver, const std::string &pack, unsigned flags = 0,
            std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace kiln::test
