// SPDX-License-Identifier: Apache-2.0
// An application with one program, and a fleet of one device to build its pack on. Each
// function runs in child processes, as the driver of that test describes the machine.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kiln/kiln.hpp"
#include "kiln/packs/contents.hpp"
#include "tests/support/pocl.hpp"
#include "tests/support/scripted_driver.hpp"

namespace kiln::test {

// For child processes, where an exception ends the work with its text.
template <typename T>
T take(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

inline void require(const Status &status) {
  if (!status) throw std::runtime_error(status.message);
}

// A script with one device that computes: `device` goes to the end of its table, before
// [platform.device.binary] or [[fault]], which can follow in it. The device takes IL when
// `device` says il = "...".
std::string computing_device(const std::string &device);

// out[i] = 3 * i + 1. The SPIR-V holds the entry point's name alone, which is all that the
// test driver reads of it.
packs::Contents triple_program();
// The same kernel as another variant, of a source with that word in a comment; without SPIR-V.
packs::Variant triple_variant(const std::string &word);
// The kernel as a file, for a device's il_source.
std::string triple_file(const ScriptedDriver &driver);

// `kiln build` on the driver's device: writes the pack and returns its path. Fails the test
// where the build fails.
std::string build_pack(const ScriptedDriver &driver, const packs::Contents &base);

struct LaunchOptions {
  bool retry = false;   // a launch that fails is tried once more
  bool abrupt = false;  // exits with code 0 as soon as the result is there
};

// In a child: launches "triple" and checks every value; throws what fails.
bool launch_triple(const Loader &loader, const Program &program, const LaunchOptions &options = {});

// What a start does besides loading "triple".
struct StartOptions {
  unsigned flags = 0;          // as kiln_load takes them
  std::string overlay;         // empty: none
  std::uint32_t deadline = 0;  // milliseconds, 0: none
  bool finish = false;         // kiln_loader_finish() after the launch
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

struct Notice {
  kiln_notice_kind kind;
  std::string text;
};

// How one start of the application went.
struct Start {
  builder::ChildResult child;
  std::string rung;    // as the report's JSON has it
  std::string report;  // the load report's JSON
  std::string error;   // of a load that gave no program
  bool right = false;  // all values are
  bool recompiled = false;
  std::vector<std::string> notes;
  std::vector<Notice> notices;

  // The reason of that rung in the report; empty if it was used.
  std::string reason(const std::string &of_rung) const;
  std::string outcome(const std::string &of_rung) const;
  // The first notice of that kind, or "-".
  std::string notice(kiln_notice_kind kind) const;
  bool has_note(const std::string &part) const;
};

// Opens the pack, loads, launches, compares.
Start start(const ScriptedDriver &driver, const std::string &pack, unsigned flags = 0,
            std::chrono::milliseconds timeout = std::chrono::seconds(60));
Start start(const ScriptedDriver &driver, const std::string &pack, const StartOptions &options);
// What start() runs in its child.
nlohmann::json load_and_launch(const std::string &pack, const StartOptions &options);

}  // namespace kiln::test
