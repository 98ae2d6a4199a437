// SPDX-License-Identifier: Apache-2.0
// The load report: the outcome of every rung, and its reason.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/packs/pack.hpp"
#include "runtime/device/device.hpp"
#include "runtime/load/rungs.hpp"
#include "runtime/load/tuning.hpp"

namespace kiln::runtime {

struct RungResult {
  kiln_rung rung = KILN_RUNG_ERROR;
  kiln_outcome outcome = KILN_OUTCOME_LOADED;
  std::string reason;   // a sentence; empty when loaded
  packs::BlobRef blob;  // the pack's blob, if one was tried
  std::string log;      // the driver's build log of a rung that failed; may be empty
};

// The target of a pack that is nearest to a device, and the differences.
struct Nearest {
  std::string target;
  std::vector<Difference> differs;
};

// Returns the outcome's name, such as "skipped".
const char *outcome_name(kiln_outcome outcome);

// The report of a load; complete when the load returns, and not changed afterwards.
struct Report {
  std::string program;
  std::string variant;
  kiln_rung rung = KILN_RUNG_ERROR;
  std::vector<RungResult> rungs;             // best first, down to the one that loaded
  std::optional<bool> recompiled;            // absent when it was neither checked nor remembered
  kiln_finality final = KILN_FINAL_UNKNOWN;  // of the loaded program
  std::string why_not_final;                 // a sentence; may be empty
  std::vector<std::string> notes;            // other events, a sentence each
  double milliseconds = 0;
  std::shared_ptr<const Device> device;
  std::shared_ptr<const packs::Pack> pack;

  // Finds the target that is nearest to the device; reads every section. Returns std::nullopt if
  // the binary was exact or from the overlay, or if there is no target.
  std::optional<Nearest> nearest() const;
  // Returns whether the driver compiled, or compiles at the first launch.
  bool has_compiled() const;
  // Returns what kiln_report_estimate() does.
  double estimate() const;
  // Returns the report as JSON, schema 1 of docs/use/loading.md.
  std::string json(const Choice &choice) const;
};

// Appends {"target", "differs"} or null, as in the report's JSON.
void append_nearest(const Report &report, std::string *out);

}  // namespace kiln::runtime
