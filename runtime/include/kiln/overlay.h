/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * What an application does with its overlay besides naming it. The conventions of kiln.h hold here.
 */
#ifndef KILN_OVERLAY_H
#define KILN_OVERLAY_H

#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

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
