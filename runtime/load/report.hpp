// SPDX-License-Identifier: Apache-2.0
// The load report: what became of every rung, and why.
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
  packs::BlobRef blob;  // of the pack, if one was tried
  std::string log;      // the driver's build log of a rung that failed; may be empty
};

// The target of a pack that is closest to a device, and what differs.
struct Nearest {
  std::string target;
  std::vector<Difference> differs;
};

// "skipped"
const char *outcome_name(kiln_outcome outcome);

// Complete when the load returns, and not changed after.
struct Report {
  std::string program;
  std::string variant;
  kiln_rung rung = KILN_RUNG_ERROR;
  std::vector<RungResult> rungs;             // best first, down to the one that loaded
  std::optional<bool> recompiled;            // absent when it was neither checked nor remembered
  kiln_finality final = KILN_FINAL_UNKNOWN;  // of what was loaded
  std::string why_not_final;                 // a sentence; may be empty
  std::vector<std::string> notes;            // what else happened, a sentence each
  double milliseconds = 0;
  std::shared_ptr<const Device> device;
  std::shared_ptr<const packs::Pack> pack;

  // Compares the device with every target; reads every section. std::nullopt where the binary was
  // exact or of the overlay, and without any target.
  std::optional<Nearest> nearest() const;
  // Whether the driver compiled, or compiles at the first launch.
  bool has_compiled() const;
  // Schema 1 of docs/loading.md.
  std::string json(const Choice &choice) const;
};

// {"target", "differs"} or null, as the report's JSON has it.
void append_nearest(const Report &report, std::string *out);

}  // namespace kiln::runtime
