/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Connecting an overlay to loaders, and what else is done with one. The conventions of kiln.h hold
 * here.
 */
#ifndef KILN_OVERLAY_H
#define KILN_OVERLAY_H

#include "kiln/loader_options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Connects an overlay to the loaders that are created with `options`: they keep for later starts
 * what this device had to compile, and do not give a driver again what it died of. Sets `overlay`,
 * `overlay_limit` and `overlay_part`. A program that calls nothing of this header links no code of
 * the overlay.
 * @param options options to set; NULL does nothing.
 * @param folder the application's own, on a local disk, one for all its packs and processes. Made
 * by kiln_loader_create() if its parent is there, and needed until that returns. A folder that
 * cannot be used is no error: the loader has no overlay and no quarantine, and a notice and the
 * reports say why. NULL: no overlay.
 * @param limit bytes of binaries kept, least recently used first out; 0: 64 MiB. */
KILN_API void kiln_loader_use_overlay(kiln_loader_options *options, const char *folder,
                                      uint64_t limit);

/** Says that this process is about to end on purpose, so that what its loaders are doing is not
 * taken for a driver's death at the next start. For a handler of SIGTERM and before _exit(); exit()
 * and kiln_loader_release() need no such call. Async-signal-safe; what is loaded afterwards is not
 * guarded. */
KILN_API void kiln_process_ending(void);

/** Removes everything of Kiln's in an overlay folder, quarantines too; the markers of living
 * processes stay. No folder is an empty one. #KILN_ERROR_PACK_IO if something cannot be removed. */
KILN_API kiln_status kiln_overlay_clear(const char *folder, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_OVERLAY_H */
