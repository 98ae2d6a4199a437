// SPDX-License-Identifier: Apache-2.0
// Says what became of each program, in a file of JSON lines.
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
  std::string nearest;  // JSON: of Served
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

// The reason of what note_built() noted or could not, and of what the driver refused.
std::string noted(const packs::Status &status);
inline constexpr char kRefused[] = "the driver does not build it";

// Whether what was loaded by this rung was compiled.
bool is_compiled(const std::string &rung);

// Appends {"program", "outcome", "rung", "reason", "nearest", "milliseconds"} to the file of the
// settings, if they name one: in one write, so that lines of several processes stay whole.
// "outcome" is "served", "compiled" (from the pack's source, for the overlay) or "passed";
// "milliseconds" are those since the start, what the application waited for unless it asked to be
// called back. A file that cannot be written is no error.
void append_report(const Built &built);

}  // namespace kiln::layer
