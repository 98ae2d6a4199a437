/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Overlays: connecting one to loaders, announcing the end of a process, clearing a folder. The
 * conventions of kiln.h hold here. */
#ifndef KILN_OVERLAY_H
#define KILN_OVERLAY_H

#include "kiln/loader_options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Connects an overlay to the loaders that are created with `options`: they store what this device
 * had to compile for later starts, and do not give a driver again what it crashed on. Sets
 * `overlay`, `overlay_limit` and `overlay_part`. A program that calls nothing of this header links
 * no code of the overlay.
 * @param options options to set; NULL does nothing.
 * @param folder the application's own folder, on a local disk, one for all its packs and processes.
 * kiln_loader_create() makes the folder if its parent exists; the string is needed until that call
 * returns. A folder that cannot be used is no error: the loader has no overlay and no quarantine,
 * and a notice and the reports say why. NULL: no overlay.
 * @param limit bytes of binaries to keep; the least recently used are removed first. 0: 64 MiB. */
KILN_API void kiln_loader_use_overlay(kiln_loader_options *options, const char *folder,
                                      uint64_t limit);

/** Connects an overlay that users and machines share to the loaders that are created with
 * `options`. Each user has a folder in it, FOLDER/UID (its number), an overlay as above for all
 * processes of this user, on whatever machine. What another user compiled is taken only from
 * FOLDER/UID.kiln, a pack that `kiln overlay build --shared` signed, and only if a key signed it
 * that kiln_loader_use_trust() names in the same options (its `threshold` counts, its
 * `smallest_revision` does not). Without keys nothing of another user's is read. File systems
 * without locks (NFS) will do; no crash of the driver is then remembered. Sets the same members as
 * kiln_loader_use_overlay(); the last call counts.
 * @param options options to set; NULL does nothing.
 * @param folder an existing folder in which each user can create files; sticky (mode 1770 or 1777)
 * if anyone but its owner can write to it, so that nobody can replace another user's files; not a
 * symbolic link. The string is needed until kiln_loader_create() returns. A folder that cannot be
 * used is no error, as above. Not on Windows and Android. NULL: no overlay.
 * @param limit bytes of this user's binaries to keep, as above. */
KILN_API void kiln_loader_use_shared(kiln_loader_options *options, const char *folder,
                                     uint64_t limit);

/** Announces that this process is about to end on purpose, so that the next start does not take its
 * unfinished loads for crashes of the driver. Call it in a handler of SIGTERM and before _exit();
 * exit() and kiln_loader_release() do not need it. Async-signal-safe. Later loads are not
 * guarded. */
KILN_API void kiln_process_ending(void);

/** Removes all of Kiln's files from an overlay folder, quarantines too; the markers of living
 * processes stay. A missing folder counts as empty. Fails with #KILN_ERROR_PACK_IO if a file cannot
 * be removed. */
KILN_API kiln_status kiln_overlay_clear(const char *folder, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_OVERLAY_H */
