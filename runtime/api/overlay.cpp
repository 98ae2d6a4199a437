// SPDX-License-Identifier: Apache-2.0
// The C API: connecting the overlay to loaders, and clearing it.
#include "kiln/overlay.h"

#include <algorithm>

#include "runtime/api/api.hpp"
#include "runtime/overlay/overlay.hpp"
#include "runtime/overlay/shared_folder.hpp"

using namespace kiln::runtime;

namespace {

// An overlay that cannot be used is no error; the report and a notice say why.
void have_no_overlay(const Status &status, Loader *loader) {
  loader->no_overlay += ": " + status.message;
  notify(*loader, {KILN_NOTICE_NO_OVERLAY, KILN_RUNG_OVERLAY, KILN_OUTCOME_SKIPPED, "", "",
                   loader->no_overlay.c_str(), 0});
}

// Returns the overlay, which is also the loader's persistence from now on; null if there is none.
std::shared_ptr<Overlay> open_folder(const char *path, std::uint32_t machine, std::uint64_t limit,
                                     Loader *loader) {
  std::shared_ptr<Overlay> overlay;
  std::vector<Death> deaths;
  const Status status = Overlay::open(path, limit, *loader->device, loader->notes.options, machine,
                                      &overlay, &deaths);
  if (!status.ok()) have_no_overlay(status, loader);
  if (status.ok() && loader->trust) overlay->set_trust_number(loader->trust->number());
  loader->persistence = overlay;
  for (const Death &death : deaths) {
    notify(*loader,
           {KILN_NOTICE_DEATH, death.rung, KILN_OUTCOME_QUARANTINED, "", "", death.text, 0});
  }
  return overlay;
}

void open_overlay(const kiln_loader_options &options, Loader *loader) {
  if (options.overlay == nullptr) return;
  (void)open_folder(options.overlay, 0, options.overlay_limit, loader);
}

void open_shared(const kiln_loader_options &options, Loader *loader) {
  std::string own;
  if (const Status s = own_overlay(options.overlay, &own); !s.ok()) {
    return have_no_overlay(s, loader);
  }
  const auto overlay = open_folder(own.c_str(), machine_number(), options.overlay_limit, loader);
  if (overlay == nullptr || options.trust == nullptr) return;
  std::vector<std::shared_ptr<const kiln::packs::Pack>> others = open_others(options.overlay);
  others.erase(std::remove_if(others.begin(), others.end(),
                              [&](auto &pack) {
                                return !options.trust_part->accept(*options.trust, &pack).ok();
                              }),
               others.end());
  overlay->add_signed_packs(std::move(others));
}

void connect(kiln_loader_options *options, const char *folder, uint64_t limit,
             const kiln_overlay_part *part) {
  if (options == nullptr) return;
  options->overlay = folder;
  options->overlay_limit = limit;
  options->overlay_part = folder == nullptr ? nullptr : part;
}

}  // namespace

void kiln_loader_use_overlay(kiln_loader_options *options, const char *folder, uint64_t limit) {
  static constexpr kiln_overlay_part kOverlay{open_overlay};
  connect(options, folder, limit, &kOverlay);
}

void kiln_loader_use_shared(kiln_loader_options *options, const char *folder, uint64_t limit) {
  static constexpr kiln_overlay_part kShared{open_shared};
  connect(options, folder, limit, &kShared);
}

void kiln_process_ending(void) { clear_live_markers(false); }

kiln_status kiln_overlay_clear(const char *folder, kiln_error *error) {
  KILN_REQUIRE(folder != nullptr, error);
  const int code = clear_overlay(folder);
  return code == 0 ? KILN_OK : report_error(file_failure(folder, code), error);
}
