/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Options of a loader: notices, hints, notes on drivers. overlay.h adds an overlay,
 * trust.h required signatures. The conventions of kiln.h hold here. */
#ifndef KILN_LOADER_OPTIONS_H
#define KILN_LOADER_OPTIONS_H

#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kind of a notice. */
typedef enum kiln_notice_kind {
  KILN_NOTICE_RUNG = 0,       /**< A rung gave no program; `outcome` and `text` say why. */
  KILN_NOTICE_LOADED = 1,     /**< `rung` gave the program. */
  KILN_NOTICE_NOT_LOADED = 2, /**< No rung gave the program. */
  KILN_NOTICE_RECOMPILED = 3, /**< The driver silently recompiled the binary of `rung`. */
  KILN_NOTICE_STORED = 4,     /**< The driver's binary was stored in the overlay, on disk. */
  KILN_NOTICE_NOT_STORED = 5, /**< The driver's binary was not stored; `text` says why. */
  KILN_NOTICE_DEATH = 6,      /**< An earlier process ended inside the driver, or hangs there. */
  KILN_NOTICE_NO_OVERLAY = 7, /**< The overlay cannot be used; `text` says why. */
  KILN_NOTICE_NO_GUARD = 8,   /**< Crash detection is off for this attempt. */
  KILN_NOTICE_UNTRUSTED = 9,  /**< Under #KILN_TRUST_WARN: why the pack is not trusted. */
  KILN_NOTICE_UNLOADED = 10   /**< The driver was asked to unload its compiler (driver.h). */
} kiln_notice_kind;

/** A notice of an event while loading, for telemetry. No string is NULL; the strings live for the
 * call. */
typedef struct kiln_notice {
  kiln_notice_kind kind; /**< Kind of the notice. */
  kiln_rung rung;        /**< The rung concerned. */
  kiln_outcome outcome;  /**< Outcome of that rung. */
  const char *program;   /**< Name of the program; "" if none is concerned. */
  const char *variant;   /**< Name of the variant; "" if none is concerned. */
  const char *text;      /**< The reason, as a sentence; may be "". */
  double milliseconds;   /**< Time of the whole load, for LOADED and NOT_LOADED; else 0. */
} kiln_notice;

/** Called on the thread that loads, possibly on several at once; must not use the same loader. */
typedef void (*kiln_notice_function)(const kiln_notice *notice, void *user);

/** Calls that a loader must not make to a driver, as bits. */
enum {
  KILN_DRIVER_NEVER_GIVE = 1, /**< Give it no binary: rungs with binaries are left out. */
  KILN_DRIVER_NEVER_ASK = 2,  /**< Do not ask for its binary: nothing is stored in the overlay. */
  KILN_DRIVER_NEVER_COMPARE = 4, /**< Do not compare its binary with the given one: it differs. */
  KILN_DRIVER_NEVER_SUGGEST = 8  /**< Do not ask it for work-group sizes. */
};

/** A known fault of a driver. The rules of kiln_loader_options for sizes, unknown bytes and unknown
 * bits hold; all notes of an array have one size. */
typedef struct kiln_driver_note {
  size_t size;         /**< sizeof(kiln_driver_note) */
  const char *who;     /**< A profile ("mali") or a platform's name; NULL: any driver. */
  const char *from;    /**< First driver version with the fault; NULL: any. */
  const char *below;   /**< Only earlier versions have the fault; NULL: any. */
  unsigned flags;      /**< KILN_DRIVER_* bits. */
  const char *options; /**< Additional build options for source and IL; may be NULL. */
} kiln_driver_note;

/** Options of a loader. Start from zeros with `size` set to sizeof(kiln_loader_options). A shorter
 * struct from an older header is accepted, and the members that it lacks count as zero. In a longer
 * struct from a newer header, the bytes that this library does not know must be zero, else
 * #KILN_ERROR_ARGUMENT: no option is ever silently ignored. A size of more than 4,096, an unknown
 * level, and `overlay` or `trust` without its part are #KILN_ERROR_ARGUMENT, too. */
struct kiln_loader_options {
  size_t size;        /**< sizeof(kiln_loader_options) */
  cl_context context; /**< A context with the device; retained. NULL: Kiln makes its own. */
  /** Set by kiln_loader_use_overlay(), with the next two members. */
  const char *overlay;
  uint64_t overlay_limit;                       /**< Limit of the stored binaries in bytes. */
  const struct kiln_overlay_part *overlay_part; /**< The overlay's code. */
  /** Set by kiln_loader_use_trust(), with `trust_part`. */
  const struct kiln_trust *trust;
  const struct kiln_trust_part *trust_part; /**< The code that checks signatures. */
  /** A binary that another living process has been loading for longer than this is skipped at this
   * start. A load that takes longer and succeeds is a success. 0: no deadline. */
  uint32_t deadline_milliseconds;
  uint32_t reserved;           /**< Zero, else #KILN_ERROR_ARGUMENT. */
  kiln_notice_function notice; /**< May be NULL. */
  void *notice_user;           /**< Passed to `notice`. */
  kiln_level performance;      /**< Performance of Kiln's own context: cl_qcom_perf_hint. */
  kiln_level priority;         /**< Priority of Kiln's own context: cl_qcom_priority_hint. */
  /** `driver_note_count` notes, in addition to Kiln's own; NULL: none. Copied. */
  const kiln_driver_note *driver_notes;
  size_t driver_note_count; /**< Number of `driver_notes`. */
};

#ifdef __cplusplus
}
#endif

#endif /* KILN_LOADER_OPTIONS_H */
