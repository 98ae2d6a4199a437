/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * How a load went: the rung that gave the program, and what became of those above it. kiln.h, whose
 * conventions hold here, includes this header. */
#ifndef KILN_REPORT_H
#define KILN_REPORT_H

#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Releases the handle; NULL does nothing. */
KILN_API void kiln_report_release(kiln_report *report);
/** The rung that gave the program; #KILN_RUNG_ERROR if none did. */
KILN_API kiln_rung kiln_report_rung(const kiln_report *report);
/** What became of `rung`, and why, as a sentence; "" for the one that loaded. NULL, and `*outcome`
 * untouched, for a rung below it. `outcome` may be NULL. */
KILN_API const char *kiln_report_reason(const kiln_report *report, kiln_rung rung,
                                        kiln_outcome *outcome);
/** Why this variant was chosen, as a sentence ("preferred by the pack"); `*choice`, if it is not
 * NULL, gets the same as a value. NULL, and `*choice` untouched, if no variant was chosen. */
KILN_API const char *kiln_report_choice(const kiln_report *report, kiln_choice *choice);
/** Whether the first launch compiles anything; `*reason`, if it is not NULL, gets why not as a
 * sentence, or "". NULL as report is #KILN_FINAL_UNKNOWN. */
KILN_API kiln_finality kiln_report_final(const kiln_report *report, const char **reason);
/** How long the whole load took, in milliseconds; that of the call that loaded. */
KILN_API double kiln_report_milliseconds(const kiln_report *report);
/** The load report of docs/loading.md, schema 1. The nearest target is looked for here, not at
 * load; a program that was loaded from the overlay or its exact binary has none. */
KILN_API const char *kiln_report_json(kiln_report *report);

#ifdef __cplusplus
}
#endif

#endif /* KILN_REPORT_H */
