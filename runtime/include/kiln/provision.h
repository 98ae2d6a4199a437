/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Fills Mesa's shader cache from a pack, for applications on Linux that may meet rusticl, whose
 * final code is in that cache and not in its binaries. This is a library of its own
 * (kiln::provision), since few applications need it; the conventions of kiln.h hold. `kiln
 * provision` does the same for a whole machine. */
#ifndef KILN_PROVISION_H
#define KILN_PROVISION_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes the pack file's entries for Mesa's cache below a folder, and sets this process's
 * environment so that Mesa reads them and keeps its own cache there, too: MESA_SHADER_CACHE_DIR,
 * MESA_DISK_CACHE_SINGLE_FILE, MESA_DISK_CACHE_READ_ONLY_FOZ_DBS and
 * MESA_DISK_CACHE_COMBINE_RW_WITH_RO_FOZ. So call it before OpenCL is first used, and while no
 * other thread reads the environment. Whatever this machine compiles stays in the folder for the
 * next start. A call that finds all entries in place writes nothing. Does nothing if the pack has
 * no entries for Mesa. On failure the environment is unchanged, and Mesa compiles as it would have
 * without this call.
 * @param pack path of the file.
 * @param folder its parent must exist. One folder may serve any number of packs, for example a
 * folder inside the overlay.
 * @param error the pack's fault, or #KILN_ERROR_PACK_IO with the file and the cause. */
kiln_status kiln_provision(const char *pack, const char *folder, kiln_error *error);

/** Removes from `folder` the files that kiln_provision() wrote there, and nothing else. The
 * environment is unchanged. Fails with #KILN_ERROR_PACK_IO if a file cannot be removed. */
kiln_status kiln_provision_remove(const char *folder, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_PROVISION_H */
