/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Load reports in a folder, from which a fleet's operator collects them. The conventions of kiln.h
 * hold here. */
#ifndef KILN_REPORT_FOLDER_H
#define KILN_REPORT_FOLDER_H

#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Has every later load of this process, of any loader, append its report to this process's file in
 * `folder`, as a line of JSON (docs/operate/harvest.md), without build logs and names of folders.
 * `folder` may be `getenv("KILN_REPORT_DIR")`, and is made if its parent exists; with NULL or "",
 * later loads append nothing. It gets at most 64 files of 64 KiB, of all processes together; the
 * oldest are removed first. Lines that cannot be written are dropped. Fails with
 * #KILN_ERROR_PACK_IO, and loads append nothing, if the folder cannot be used. A program that does
 * not call this function links no code of it. */
KILN_API kiln_status kiln_report_folder(const char *folder, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_REPORT_FOLDER_H */
