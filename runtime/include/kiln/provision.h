/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Mesa's shader cache, filled from a pack: for applications on Linux that may meet rusticl, whose
 * final code is in that cache and not in its binaries. A library of its own (kiln::provision),
 * since few applications need it; the conventions of kiln.h hold. `kiln provision` does the same
 * for a whole machine. */
#ifndef KILN_PROVISION_H
#define KILN_PROVISION_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes what the pack file has for Mesa's cache below a folder, and sets this process's
 * environment so that Mesa reads it and keeps its own cache there, too: MESA_SHADER_CACHE_DIR,
 * MESA_DISK_CACHE_SINGLE_FILE, MESA_DISK_CACHE_READ_ONLY_FOZ_DBS and
 * MESA_DISK_CACHE_COMBINE_RW_WITH_RO_FOZ. So call it before OpenCL is first used, and while no
 * other thread reads the environment. What this machine compiles stays in the folder for the next
 * start. A call that finds all in place writes nothing. Does nothing if the pack has no entries for
 * Mesa. On failure the environment is as it was, and Mesa compiles as it would have.
 * @param pack path of the file.
 * @param folder its parent must be there. One folder may serve any number of packs, for example a
 *   folder inside the overlay.
 * @param error the pack's fault, or #KILN_ERROR_PACK_IO with the file and what is in the way. */
kiln_status kiln_provision(const char *pack, const char *folder, kiln_error *error);

/** Takes out of `folder` what kiln_provision() put there, and nothing else. The environment stays
 * as it is. #KILN_ERROR_PACK_IO if something cannot be removed. */
kiln_status kiln_provision_remove(const char *folder, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_PROVISION_H */
