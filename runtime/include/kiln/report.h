/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * The report of a load: the rung that gave the program, and the outcome of each rung tried before
 * it. kiln.h, whose conventions hold here, includes this header. */
#ifndef KILN_REPORT_H
#define KILN_REPORT_H

#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Releases the handle; NULL does nothing. */
KILN_API void kiln_report_release(kiln_report *report);
/** Returns the rung that gave the program; #KILN_RUNG_ERROR if none did. */
KILN_API kiln_rung kiln_report_rung(const kiln_report *report);
/** Returns the reason for the outcome of `rung`, as a sentence; "" for the rung that loaded.
 * `*outcome` gets the outcome; `outcome` may be NULL. For a rung that was not reached, returns NULL
 * and leaves `*outcome` unchanged. */
KILN_API const char *kiln_report_reason(const kiln_report *report, kiln_rung rung,
                                        kiln_outcome *outcome);
/** Returns why this variant was chosen, as a sentence ("preferred by the pack"); `*choice`, if
 * `choice` is not NULL, gets the same as a value. If no variant was chosen, returns NULL and leaves
 * `*choice` unchanged. */
KILN_API const char *kiln_report_choice(const kiln_report *report, kiln_choice *choice);
/** Returns whether the first launch compiles anything; `*reason`, if `reason` is not NULL, gets a
 * sentence that says why the program is not final, or "". Returns #KILN_FINAL_UNKNOWN if `report`
 * is NULL. */
KILN_API kiln_finality kiln_report_final(const kiln_report *report, const char **reason);
/** Returns how long the whole load took, in milliseconds. Calls that share a load get the time of
 * the call that loaded. */
KILN_API double kiln_report_milliseconds(const kiln_report *report);
/** Returns an estimate, in milliseconds, of how long the driver compiles when it loads from the
 * report's rung, first launch included: 0 for a binary, unless its first launch is known to
 * compile, else the longest time that finishing the variant's binary took for a target of this
 * device's profile in the pack. Negative if the pack has no such time. */
KILN_API double kiln_report_estimate(const kiln_report *report);
/** Returns the load report as JSON (docs/use/loading.md, schema 1). This call, not the load,
 * searches for the nearest target; a program that was loaded from the overlay or its exact binary
 * has none. */
KILN_API const char *kiln_report_json(kiln_report *report);

#ifdef __cplusplus
}
#endif

#endif /* KILN_REPORT_H */
