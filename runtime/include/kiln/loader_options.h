/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * What a loader may be given besides device and pack: notices, a check, hints, notes on drivers; by
 * overlay.h an overlay, by trust.h a demand for signatures. The conventions of kiln.h hold here. */
#ifndef KILN_LOADER_OPTIONS_H
#define KILN_LOADER_OPTIONS_H

#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a notice reports. */
typedef enum kiln_notice_kind {
  KILN_NOTICE_RUNG = 0,       /**< A rung was passed over; `outcome` and `text` say why. */
  KILN_NOTICE_LOADED = 1,     /**< `rung` gave the program. */
  KILN_NOTICE_NOT_LOADED = 2, /**< No rung did. */
  KILN_NOTICE_RECOMPILED = 3, /**< The driver silently compiled the binary of `rung` anew. */
  KILN_NOTICE_STORED = 4,     /**< The driver's binary is in the overlay, on disk. */
  KILN_NOTICE_NOT_STORED = 5, /**< It is not; `text` says why. */
  KILN_NOTICE_DEATH = 6,      /**< An earlier process ended inside the driver, or hangs there. */
  KILN_NOTICE_NO_OVERLAY = 7, /**< The overlay cannot be used; `text` says why. */
  KILN_NOTICE_NO_GUARD = 8,   /**< Crash detection is off for this attempt. */
  KILN_NOTICE_UNTRUSTED = 9,  /**< Under #KILN_TRUST_WARN: what would have been refused, and why. */
  KILN_NOTICE_UNLOADED = 10   /**< The driver was asked to unload its compiler (driver.h). */
} kiln_notice_kind;

/** What happened while loading, for telemetry. No string is NULL; they live for the call. */
typedef struct kiln_notice {
  kiln_notice_kind kind; /**< What happened. */
  kiln_rung rung;        /**< To which rung. */
  kiln_outcome outcome;  /**< What became of that rung. */
  const char *program;   /**< Of which program; "" where that does not apply. */
  const char *variant;   /**< Of which variant; "" where that does not apply. */
  const char *text;      /**< Why, as a sentence; may be "". */
  double milliseconds;   /**< Of the whole load, for LOADED and NOT_LOADED; else 0. */
} kiln_notice;

/** Called on the thread that loads, maybe on several at once; must not use the same loader. */
typedef void (*kiln_notice_function)(const kiln_notice *notice, void *user);

/** Asked before a compatible binary is used for the first time with this driver (each time without
 * an overlay, which remembers it): may launch anything of `program`, which is borrowed, and
 * returns non-zero when the results are right. Called on the thread that loads; must not call back
 * into the same loader. */
typedef int (*kiln_check_function)(kiln_program *program, void *user);

/** What not to do with a driver, as bits. */
enum {
  KILN_DRIVER_NEVER_GIVE = 1, /**< Give it no binary: the rungs that would are left out. */
  KILN_DRIVER_NEVER_ASK = 2,  /**< Do not ask for its binary: nothing is stored in the overlay. */
  KILN_DRIVER_NEVER_COMPARE = 4, /**< Do not compare its binary with the one given: it differs. */
  KILN_DRIVER_NEVER_SUGGEST = 8  /**< Do not ask it for work-group sizes. */
};

/** What is known of a driver's mistakes. Sizes, unknown bytes and unknown bits as for
 * kiln_loader_options; all notes of an array have one size. */
typedef struct kiln_driver_note {
  size_t size;         /**< sizeof(kiln_driver_note) */
  const char *who;     /**< A profile ("mali") or a platform's name; NULL: any driver. */
  const char *from;    /**< This driver version and later ones; NULL: any. */
  const char *below;   /**< Versions earlier than this one; NULL: any. */
  unsigned flags;      /**< KILN_DRIVER_* bits. */
  const char *options; /**< More build options, for source and IL; may be NULL. */
} kiln_driver_note;

/** What a loader may be given besides device and pack. Start from zeros with `size` set to
 * sizeof(kiln_loader_options). A shorter one from an older header is accepted, and what it lacks
 * counts as zero. Of a longer one from a newer header the bytes that this library does not know
 * must be zero, else #KILN_ERROR_ARGUMENT: what is asked for is never silently left undone. A size
 * of more than 4,096, an unknown level, and `overlay` or `trust` without its part are
 * #KILN_ERROR_ARGUMENT, too. */
struct kiln_loader_options {
  size_t size;        /**< sizeof(kiln_loader_options) */
  cl_context context; /**< Holds the device and is retained; NULL makes one of Kiln's own. */
  /** Set by kiln_loader_use_overlay(), with the next two members. */
  const char *overlay;
  uint64_t overlay_limit;                       /**< Bytes of binaries kept. */
  const struct kiln_overlay_part *overlay_part; /**< The overlay's code. */
  /** Set by kiln_loader_use_trust(), with `trust_part`. */
  const struct kiln_trust *trust;
  const struct kiln_trust_part *trust_part; /**< The code that checks signatures. */
  /** A binary that another living process has been loading for longer is passed over at this
   * start. A load that takes longer and succeeds is a success. 0: none. */
  uint32_t deadline_milliseconds;
  uint32_t reserved;           /**< Zero, else #KILN_ERROR_ARGUMENT. */
  kiln_notice_function notice; /**< May be NULL. */
  void *notice_user;           /**< For `notice`. */
  kiln_check_function check;   /**< NULL: what no rule or record vouches for does not serve. */
  void *check_user;            /**< For `check`. */
  kiln_level performance;      /**< Of a context that Kiln makes: cl_qcom_perf_hint. */
  kiln_level priority;         /**< Of the same: cl_qcom_priority_hint. */
  /** `driver_note_count` of them, besides those that Kiln has itself; NULL: none. Copied. */
  const kiln_driver_note *driver_notes;
  size_t driver_note_count; /**< Of `driver_notes`. */
};

#ifdef __cplusplus
}
#endif

#endif /* KILN_LOADER_OPTIONS_H */
