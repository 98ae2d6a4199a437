// SPDX-License-Identifier: Apache-2.0
// The C API: connecting the overlay to loaders, and clearing it.
#include "kiln/overlay.h"

#include "runtime/api/api.hpp"
#include "runtime/overlay/overlay.hpp"

using namespace kiln::runtime;

namespace {

// An overlay that cannot be used is no error; the report and a notice say why.
void open_overlay(const kiln_loader_options &options, Loader *loader) {
  if (options.overlay == nullptr) return;
  std::shared_ptr<Overlay> overlay;
  std::vector<Death> deaths;
  const Status status = Overlay::open(options.overlay, options.overlay_limit, *loader->device,
                                      loader->notes.options, &overlay, &deaths);
  if (!status.ok()) {
    loader->no_overlay += ": " + status.message;
    notify(*loader, {KILN_NOTICE_NO_OVERLAY, KILN_RUNG_OVERLAY, KILN_OUTCOME_SKIPPED, "", "",
                     loader->no_overlay.c_str(), 0});
  }
  if (status.ok() && loader->trust) overlay->keep_apart(loader->trust->number());
  loader->persistence = std::move(overlay);
  for (const Death &death : deaths) {
    notify(*loader,
           {KILN_NOTICE_DEATH, death.rung, KILN_OUTCOME_QUARANTINED, "", "", death.text, 0});
  }
}

}  // namespace

void kiln_loader_use_overlay(kiln_loader_options *options, const char *folder, uint64_t limit) {
  static constexpr kiln_overlay_part kOverlay{open_overlay};
  if (options == nullptr) return;
  options->overlay = folder;
  options->overlay_limit = limit;
  options->overlay_part = folder == nullptr ? nullptr : &kOverlay;
}

void kiln_process_ending(void) { clear_live_markers(false); }

kiln_status kiln_overlay_clear(const char *folder, kiln_error *error) {
  KILN_REQUIRE(folder != nullptr, error);
  const int code = clear_overlay(folder);
  return code == 0 ? KILN_OK : report_error(file_failure(folder, code), error);
}
