// SPDX-License-Identifier: Apache-2.0
// Says what became of each program, in a file of JSON lines.
#pragma once

#include <string>

namespace kiln::layer {

// A build that an application asked for.
struct Built {
  std::string program;      // program_name()
  std::string rung;         // empty: built by the driver, as the application asked
  std::string reason;       // then why
  double milliseconds = 0;  // that the layer took for it; of a program that is served all there is
};

// Appends {"program", "outcome", "rung", "reason", "milliseconds"} in one write, so that lines of
// several processes stay whole. "outcome" is "served", "compiled" (from the pack's source, for the
// overlay) or "passed". A file that cannot be written is no error.
void append_report(const Built &built, const std::string &path);

}  // namespace kiln::layer
