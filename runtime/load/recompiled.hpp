// SPDX-License-Identifier: Apache-2.0
// Whether a driver took a binary as it was, or silently compiled it anew.
#pragma once

#include <optional>

#include "runtime/load/loader.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::runtime {

struct RecompileCheck {
  Event event = Event::proven;       // for the journal
  std::optional<bool> recompiled{};  // absent if it was neither checked nor remembered
};

// Asks the driver for its binary of `program` and compares it with the given one. The event is
// `taken` if the driver must not be asked, because of a driver note or because it died or hung when
// it was asked. It is `proven` without a comparison if none is needed (no
// KILN_LOAD_CHECK_RECOMPILED, no overlay) or if the driver gives no binary. An overlay remembers
// the answer as the event `before`: without the flag, the driver is asked once for each binary and
// driver version. Ends `attempt` before it asks, which has a marker of its own.
RecompileCheck check_recompiled(const Wanted &wanted, packs::View given, Event before,
                                Attempt *attempt, cl_program program);

}  // namespace kiln::runtime
