/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Loading many programs at once. The conventions of kiln.h hold here. */
#ifndef KILN_PREFETCH_H
#define KILN_PREFETCH_H

#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** Flag of kiln_prefetch() alone: load nothing, give the driver nothing, and report for each
   * program what kiln_load_dry_run() does. kiln_report_estimate() tells how long the driver may
   * compile. */
  KILN_PREFETCH_DRY_RUN = 1 << 30
};

/** Progress of a prefetch: this thread has passed `done` of the `total` programs of the list. */
typedef struct kiln_progress {
  size_t done;         /**< Programs passed; other threads may still be loading some of them. */
  size_t total;        /**< Programs in the list. */
  const char *program; /**< The program that was just loaded; borrowed. */
  kiln_status status;  /**< Status of its load. */
  kiln_report *report; /**< Report of its load; borrowed, never released. */
} kiln_progress;

/** Called after each program, on the thread that loaded it; non-zero stops the prefetch. */
typedef int (*kiln_progress_function)(const kiln_progress *progress, void *user);

/** Loads programs, each in the variant that kiln_load() chooses by itself, and returns when each
 * was loaded or has failed. Several threads may call it with the same list to share the work. A
 * program that cannot be loaded is no error here; its report goes to `progress`.
 * @param loader the loader, with its pack and device.
 * @param programs `count` names, none NULL.
 * @param count 0: all programs of the pack.
 * @param flags KILN_LOAD_* bits, #KILN_PREFETCH_DRY_RUN.
 * @param progress may be NULL.
 * @param user passed to `progress`.
 * @param error only for wrong arguments. */
KILN_API kiln_status kiln_prefetch(kiln_loader *loader, const char *const *programs, size_t count,
                                   unsigned flags, kiln_progress_function progress, void *user,
                                   kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_PREFETCH_H */
