// SPDX-License-Identifier: Apache-2.0
// Decides by the numbers of deaths, refusals and starts.
#include "runtime/overlay/quarantine.hpp"

#include <algorithm>

#include "runtime/load/rungs.hpp"

namespace kiln::runtime {
namespace {

// Returns whether the rung compiles IL or source, which takes so long that the application is often
// ended meanwhile.
bool is_slow(std::optional<kiln_rung> rung) {
  const Rung *row = rung ? find_rung(*rung) : nullptr;
  return row != nullptr && row->form != Form::binary;
}

packs::Status quarantined(const char *why) {
  return packs::Status::error(packs::Code::failed, why);
}

}  // namespace

unsigned starts_to_skip(const History &history, std::optional<kiln_rung> rung,
                        const CheckOptions &options) {
  const bool last = options.last;
  if (history.last == Event::not_linked) return kForGood;
  if (options.is_optional && history.deaths != 0) return kForGood;
  const unsigned patience = is_slow(rung) ? 3 : 2;
  if (history.deaths < patience) {
    if (history.refusals < (last ? 2 : 1)) return 0;
    return last ? 1u << std::min(history.refusals - 2, 6u)
                : 8u << std::min(history.refusals - 1, 3u);
  }
  const unsigned retries = history.deaths - patience;
  if (last) return 1u << std::min(retries, 6u);
  return retries < 3 ? 8u << 3 * retries : kForGood;
}

bool passes_over(const History &history, std::optional<kiln_rung> rung,
                 const CheckOptions &options) {
  return history.passed_over_now || history.passed_over < starts_to_skip(history, rung, options);
}

packs::Status check_history(const History &history, std::optional<kiln_rung> rung,
                            const CheckOptions &options) {
  const RungHistory &all = history.rung;
  if (passes_over(history, rung, options)) {
    const bool is_refused = history.deaths == 0 && history.refusals != 0;
    return quarantined(is_refused
                           ? "its compiler refused it"
                           : "an earlier process ended inside the driver while it was given this");
  }
  if (options.last || survived(history.last)) return {};
  if (history.stuck) return quarantined(kStuck);
  if (is_slow(rung) || all.survived || !all.several || all.deaths < 3) return {};
  return quarantined("the driver died three times on this rung, with two binaries");
}

}  // namespace kiln::runtime
