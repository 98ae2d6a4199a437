// SPDX-License-Identifier: Apache-2.0
// Reports the outcome of each program's build in a file of JSON lines.
#pragma once

#include <chrono>
#include <string>

#include "kiln/packs/status.hpp"

namespace kiln::layer {

// A build that an application asked for.
struct Built {
  std::string program;  // program_name()
  std::string rung;     // empty: built by the driver, as the application asked
  std::string reason;   // why it was not loaded from a binary; empty if it was
  std::string nearest;  // JSON, from Served
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

// Reasons for the report: the outcome of note_built(), and a refusal by the driver.
std::string noted(const packs::Status &status);
inline constexpr char kRefused[] = "the driver does not build it";
inline constexpr char kOnlyWithFiles[] =
    "the driver does not build the text that has its files in it";

// Returns whether a program from this rung was compiled.
bool is_compiled(const std::string &rung);

// Appends {"program", "outcome", "rung", "reason", "nearest", "milliseconds"} to the report file,
// if the settings name one, in a single write, so that lines of several processes stay whole.
// "outcome" is "served", "compiled" (from the pack's source, for the overlay) or "passed";
// "milliseconds" is the time since `start`, which the application waited unless it asked for a
// callback. Ignores a file that cannot be written.
void append_report(const Built &built);

}  // namespace kiln::layer
