/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Kiln's runtime: finds the binary that fits this device and driver in a pack, falls back to SPIR-V
 * and then to source, says why, and launches kernels. driver.h, import.h and listing.h have more.
 *
 * Conventions, which hold for every function of the C headers:
 *  1. A function that can fail returns #kiln_status; #KILN_OK is 0. Values never change their
 *     meaning; new ones are appended.
 *  2. The last parameter of such a function, `error`, takes the details; it may be NULL. Its
 *     contents after success have no meaning.
 *  3. Handles are opaque. What a function hands out through `out` belongs to the caller, who gives
 *     it to the matching `*_release`; releasing NULL does nothing. `out` is written on success
 *     only, unless a function says otherwise.
 *  4. A handle keeps alive what it was made from; release in any order.
 *  5. Strings are NUL-terminated UTF-8. A returned string belongs to the handle that it was asked
 *     of and lives as long. NULL means absent, which is not "". A string that is passed in is
 *     copied before the function returns, if it is needed for longer.
 *  6. Sizes are in bytes, times in nanoseconds, unless a name says otherwise.
 *  7. Any thread may call any function at any time with any handle, except that a kiln_kernel, a
 *     kiln_sequence, an event that is being reused and the mapping of one buffer or image are each
 *     for one thread at a time, and that no thread may use a handle while or after it is released.
 *  8. Any handle or pointer argument that must not be NULL and is gives #KILN_ERROR_ARGUMENT; a
 *     function that returns a value answers for NULL with NULL, 0 or what it says. Nothing prints,
 *     throws, reads environment variables, or unloads an OpenCL library. Only an exhausted heap
 *     ends the process. Nothing is written to disk but in an overlay folder that was named.
 *  9. OpenCL is reached through one table filled by dlopen; nothing links against it. Any function
 *     that calls it may give #KILN_ERROR_OPENCL with the code in kiln_error.cl_error.
 *  10. A struct with a member `size` may gain members at its end. A struct without one that the
 *      caller allocates (kiln_error, kiln_ndrange, kiln_times) does not grow after 1.0. */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stddef.h>
#include <stdint.h>

#ifndef CL_TARGET_OPENCL_VERSION
/** The version of OpenCL whose names the headers use; an application may choose its own. */
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include "kiln/version.h"

/** Marks what the shared library exports. */
#if defined(KILN_SHARED) && defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** How a call ended. */
typedef enum kiln_status {
  KILN_OK = 0,                   /**< It did what it says. */
  KILN_ERROR_ARGUMENT = 1,       /**< A rule of the function was broken. */
  KILN_ERROR_NO_OPENCL = 2,      /**< No OpenCL library; the message lists what was tried. */
  KILN_ERROR_NO_DEVICE = 3,      /**< No platform, or no device at that index. */
  KILN_ERROR_OPENCL = 4,         /**< An OpenCL call failed; see kiln_error.cl_error. */
  KILN_ERROR_PACK_NOT_FOUND = 5, /**< No such file. */
  KILN_ERROR_PACK_IO = 6,        /**< The system refused: a pack, an overlay, or provisioning. */
  KILN_ERROR_PACK_BAD = 7,       /**< Not a pack, truncated, corrupt; the message says which. */
  KILN_ERROR_PACK_NEWER = 8,     /**< The pack needs a newer reader. */
  KILN_ERROR_NOT_IN_PACK = 9,    /**< No such program, variant or kernel. */
  KILN_ERROR_REQUIREMENT = 10,   /**< The device lacks what the variant, or the call, needs. */
  KILN_ERROR_NO_RUNG = 11,       /**< Every rung was skipped or failed; see the report. */
  KILN_ERROR_UNTRUSTED = 12      /**< The pack is not signed as the loader demands. */
} kiln_status;

/** Rungs of the ladder, best first; the intermediate one stands between compatible and IL. */
typedef enum kiln_rung {
  KILN_RUNG_OVERLAY = 0,    /**< What this device compiled at an earlier start. */
  KILN_RUNG_EXACT = 1,      /**< The pack's binary for this device and driver. */
  KILN_RUNG_COMPATIBLE = 2, /**< The pack's binary for another target that serves this one. */
  KILN_RUNG_IL = 3,         /**< SPIR-V. */
  KILN_RUNG_SOURCE = 4,     /**< OpenCL C. */
  KILN_RUNG_ERROR = 5,      /**< None of them. */
  /** A form that the driver still compiles when it loads it, and that later GPUs take, too: PTX. */
  KILN_RUNG_INTERMEDIATE = 6
} kiln_rung;

/** Whether the driver compiles anything when a loaded program is first launched. */
typedef enum kiln_finality {
  KILN_FINAL_UNKNOWN = 0, /**< It was not launched where that could be observed. */
  KILN_FINAL_YES = 1,     /**< A fresh process did, with empty caches, and nothing was compiled. */
  KILN_FINAL_NO = 2       /**< The first launch compiles. */
} kiln_finality;

/** What became of a rung. */
typedef enum kiln_outcome {
  KILN_OUTCOME_LOADED = 0,     /**< It gave the program. */
  KILN_OUTCOME_SKIPPED = 1,    /**< Not tried: switched off, or the device cannot. */
  KILN_OUTCOME_MISSED = 2,     /**< The pack has nothing that fits. */
  KILN_OUTCOME_FAILED = 3,     /**< Tried, and the driver or a check said no. */
  KILN_OUTCOME_QUARANTINED = 4 /**< Not tried: the driver died or hung over it before. */
} kiln_outcome;

/** How the variant was chosen. */
typedef enum kiln_choice {
  KILN_CHOICE_NAME = 0,        /**< The caller named it. */
  KILN_CHOICE_MEASUREMENT = 1, /**< The fastest here, or where it is most like here. */
  KILN_CHOICE_PREFERENCE = 2,  /**< The pack's order of preference. */
  KILN_CHOICE_ORDER = 3        /**< The first by name. */
} kiln_choice;

/** Details of a failure. The struct never grows. */
typedef struct kiln_error {
  kiln_status status; /**< What the function returned. */
  cl_int cl_error;    /**< The OpenCL error code, or 0. */
  char message[1024]; /**< A sentence for people; cut between characters where it is longer. */
} kiln_error;

/** The table of OpenCL entry points. */
typedef struct kiln_opencl kiln_opencl;
/** A device, its identity and profile. */
typedef struct kiln_device kiln_device;
/** An open pack. */
typedef struct kiln_pack kiln_pack;
/** Pack, device and context. */
typedef struct kiln_loader kiln_loader;
/** A loaded variant of a program. */
typedef struct kiln_program kiln_program;
/** How a load went. */
typedef struct kiln_report kiln_report;
/** An entry point of a program with its arguments. */
typedef struct kiln_kernel kiln_kernel;
/** A command queue. */
typedef struct kiln_queue kiln_queue;
/** Memory of bytes. */
typedef struct kiln_buffer kiln_buffer;
/** Memory of pixels. */
typedef struct kiln_image kiln_image;
/** Stands for a command that was enqueued. */
typedef struct kiln_event kiln_event;

/** Version of the library that the program runs with: 10,000 * major + 100 * minor + patch, as in
 * #KILN_VERSION, which is that of the headers that the program was compiled with. */
KILN_API unsigned kiln_version(void);

/** @name OpenCL and devices
 * @{ */

/** Opens the first OpenCL library that has every entry point that Kiln needs.
 * @param candidates `count` names or paths, none NULL, tried in that order.
 * @param count 0: the platform's usual names, and `candidates` is not looked at.
 * @param out the table; the library stays loaded until the process ends.
 * @param error #KILN_ERROR_NO_OPENCL lists each candidate and what it lacks. */
KILN_API kiln_status kiln_opencl_open(const char *const *candidates, size_t count,
                                      kiln_opencl **out, kiln_error *error);
/** Releases the handle; NULL does nothing. */
KILN_API void kiln_opencl_release(kiln_opencl *opencl);

/** Number of devices of all platforms, in the order of `kiln devices`. A platform that fails is
 * passed over; none at all is #KILN_ERROR_NO_DEVICE. */
KILN_API kiln_status kiln_device_count(kiln_opencl *opencl, size_t *out, kiln_error *error);
/** Opens the device at `index`, from 0, of those that kiln_device_count() counts, and asks it for
 * its identity. #KILN_ERROR_NO_DEVICE if there are not so many. */
KILN_API kiln_status kiln_device_open(kiln_opencl *opencl, size_t index, kiln_device **out,
                                      kiln_error *error);
/** The same for a device that the application chose itself; it is of the OpenCL library of
 * `opencl`. A sub-device is retained. */
KILN_API kiln_status kiln_device_from_cl(kiln_opencl *opencl, cl_device_id device,
                                         kiln_device **out, kiln_error *error);
/** Releases the handle; NULL does nothing. */
KILN_API void kiln_device_release(kiln_device *device);
/** The OpenCL device, which is not retained for the caller. */
KILN_API cl_device_id kiln_device_cl(const kiln_device *device);
/** Device info by name: a string as the driver gave it ("device_name", "driver_version", ...), or
 * what the vendor profile made of it: "profile", "family", "model", "compiler", "key". NULL where
 * the device does not have it, and for an unknown name. */
KILN_API const char *kiln_device_info(const kiln_device *device, const char *name);

/** @}
 * @name Packs
 * A pack's file is read as it is used, and checked. Replace it by writing a new file and renaming
 * that over the old one, as the command line does: those who have the old one open keep it. A file
 * that is written to, truncated or removed while it is open costs the rungs that are read after
 * that, and never the process.
 *
 * All functions that open one give #KILN_ERROR_PACK_NOT_FOUND, #KILN_ERROR_PACK_IO,
 * #KILN_ERROR_PACK_BAD and #KILN_ERROR_PACK_NEWER.
 * @{ */

/** Opens a regular file, as a whole. */
KILN_API kiln_status kiln_pack_open_file(const char *path, kiln_pack **out, kiln_error *error);
/** Opens `length` bytes at `offset` of a file (an Android asset). `offset` is any number; the
 * descriptor, which must be readable, stays the caller's and may be closed after. */
KILN_API kiln_status kiln_pack_open_descriptor(int fd, uint64_t offset, uint64_t length,
                                               kiln_pack **out, kiln_error *error);
/** Opens `size` bytes of memory, aligned to 8 bytes, which stay the caller's, valid and unchanged
 * until the pack and everything that was made from it is released. */
KILN_API kiln_status kiln_pack_open_memory(const void *memory, size_t size, kiln_pack **out,
                                           kiln_error *error);
/** Releases the handle; NULL does nothing. */
KILN_API void kiln_pack_release(kiln_pack *pack);

/** @}
 * @name Loading
 * @{ */

/** Rungs to leave out, extra work, what the program is for; unknown bits: #KILN_ERROR_ARGUMENT. */
enum {
  KILN_LOAD_NO_BINARY = 1, /**< Leave out the rungs overlay, exact, compatible, intermediate. */
  KILN_LOAD_NO_IL = 2,     /**< Leave out the rung IL. */
  KILN_LOAD_NO_SOURCE = 4, /**< Leave out the rung source. */
  /** Compare the driver's binary with the given one on every load. An overlay does that once. */
  KILN_LOAD_CHECK_RECOMPILED = 8,
  /** Allow the compatible rung: another target's binary that the vendor's rule, a recorded
   * cross-check or the application's check says serves this device. */
  KILN_LOAD_COMPATIBLE = 16,
  KILN_LOAD_NO_OVERLAY = 32, /**< Neither take a binary from the overlay nor store one there. */
  /** Where Kiln chooses the variant: for problems of fewer than 65,536 elements. With neither this
   * nor #KILN_LOAD_FOR_MEDIUM it is for the largest; both are #KILN_ERROR_ARGUMENT. */
  KILN_LOAD_FOR_SMALL = 64,
  KILN_LOAD_FOR_MEDIUM = 128, /**< The same for problems of fewer than 1,048,576 elements. */
  KILN_LOAD_UNPROVEN = 256    /**< Take a named variant that requires a proof without one, too. */
};

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
  KILN_NOTICE_NO_GUARD = 8,   /**< No marker could be written: a death would not be seen. */
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

/** A wish that a driver may be unable to meet. */
typedef enum kiln_level {
  KILN_LEVEL_DEFAULT = 0, /**< No wish. */
  KILN_LEVEL_LOW = 1,     /**< Low. */
  KILN_LEVEL_MEDIUM = 2,  /**< Medium. */
  KILN_LEVEL_HIGH = 3     /**< High. */
} kiln_level;

/** What was asked for and taken, as bits. */
enum {
  KILN_HINT_PRIORITY = 1,     /**< The priority, of a context or a queue. */
  KILN_HINT_THROTTLE = 2,     /**< The throttle of a queue. */
  KILN_HINT_OUT_OF_ORDER = 4, /**< A queue is out of order. */
  KILN_HINT_PERFORMANCE = 8   /**< The performance of a context. */
};

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
 * of more than 4,096 is #KILN_ERROR_ARGUMENT, too, as is an unknown level. */
typedef struct kiln_loader_options {
  size_t size;        /**< sizeof(kiln_loader_options) */
  cl_context context; /**< Holds the device and is retained; NULL makes one of Kiln's own. */
  /** Folder of the overlay: the application's own, on a local disk, one for all its packs and
   * processes. Made if its parent is there. It keeps what this device had to compile, and what is
   * known of drivers that died. NULL, or a folder that cannot be used: no overlay and no
   * quarantine, which the report says and which is never an error. */
  const char *overlay;
  /** Bytes of binaries kept, least recently used first out; 0: 64 MiB. */
  uint64_t overlay_limit;
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
  size_t driver_note_count;       /**< Of `driver_notes`. */
  const struct kiln_trust *trust; /**< Whose packs are taken (trust.h); NULL: anybody's. Copied. */
} kiln_loader_options;

/** Makes a loader, with a context, and opens the overlay. The callbacks of the options may be
 * called until it is released.
 * @param device where to load.
 * @param pack from what.
 * @param options NULL: all defaults. They are copied.
 * @param out the loader. It keeps every program that it loaded.
 * @param error #KILN_ERROR_ARGUMENT if an option breaks its rules, #KILN_ERROR_UNTRUSTED, or
 * #KILN_ERROR_OPENCL if there is no context. An overlay that cannot be used is no error. */
KILN_API kiln_status kiln_loader_create(kiln_device *device, kiln_pack *pack,
                                        const kiln_loader_options *options, kiln_loader **out,
                                        kiln_error *error);
/** Finishes first, as kiln_loader_finish() does, which may take as long as compiling: release
 * loaders before the process begins to exit. NULL does nothing. */
KILN_API void kiln_loader_release(kiln_loader *loader);
/** The context, which is not retained for the caller. */
KILN_API cl_context kiln_loader_context(const kiln_loader *loader);
/** Makes final what this device had to compile, and puts it into the overlay, so that the next
 * start compiles nothing, not even at a first launch. For each program that did not come from a
 * final binary, once: NVIDIA's PTX becomes a cubin (some 150 ms); PoCL's binary is taken again with
 * the code of all work-group sizes that were launched; other drivers' binaries were stored when
 * they were loaded. Call it when the first results are there, from any thread but not from a
 * callback; it waits for nothing that was enqueued. Without it a loader's release does the same. An
 * application that ends before both leaves the driver's plain binary, and the next start improves
 * it. Returns #KILN_OK without an overlay, too; what could not be stored is a notice. */
KILN_API kiln_status kiln_loader_finish(kiln_loader *loader, kiln_error *error);
/** The KILN_HINT_* bits that the context was made with. */
KILN_API unsigned kiln_loader_hints(const kiln_loader *loader);

/** Loads a variant, on the calling thread. Any error code from the driver is a miss of that rung
 * and never the end. The same variant with the same flags is loaded once, whichever threads ask;
 * all get one report, but for what it says of the choice. A load that failed is tried again by the
 * next call.
 * @param loader from where to where.
 * @param program the program's name.
 * @param variant NULL takes, of those that the device can run, the one that was measured the
 * fastest, else the first that the pack prefers, else the first by name; see docs/loading.md.
 * @param flags KILN_LOAD_* bits.
 * @param out the program.
 * @param report may be NULL; else it is written whenever the arguments were valid, also on failure.
 * @param error #KILN_ERROR_NOT_IN_PACK, #KILN_ERROR_REQUIREMENT or #KILN_ERROR_NO_RUNG. */
KILN_API kiln_status kiln_load(kiln_loader *loader, const char *program, const char *variant,
                               unsigned flags, kiln_program **out, kiln_report **report,
                               kiln_error *error);
/** What kiln_load() with the same arguments would come to, without giving the driver anything: for
 * installers, and to show "preparing" before a start that compiles. Records nothing. The report is
 * set in any case but #KILN_ERROR_ARGUMENT; its rung is the first that would be tried, and the
 * driver may still refuse what it is given there. #KILN_ERROR_NO_RUNG if there is none. */
KILN_API kiln_status kiln_loader_verdict(kiln_loader *loader, const char *program,
                                         const char *variant, unsigned flags, kiln_report **report,
                                         kiln_error *error);

/** Says that this process is about to end on purpose, so that what its loaders are doing is not
 * taken for a driver's death at the next start. For a handler of SIGTERM and before _exit(); exit()
 * and kiln_loader_release() need no such call. Async-signal-safe; what is loaded afterwards is not
 * guarded. */
KILN_API void kiln_process_ending(void);

/** Releases the handle; NULL does nothing. The loader keeps what was loaded. */
KILN_API void kiln_program_release(kiln_program *program);
/** The OpenCL program, which is not retained for the caller. */
KILN_API cl_program kiln_program_cl(const kiln_program *program);
/** The program's name in the pack. */
KILN_API const char *kiln_program_name(const kiln_program *program);
/** The name of the variant that was loaded, chosen or asked for. */
KILN_API const char *kiln_program_variant(const kiln_program *program);

/** Where a prefetch is: this thread has passed `done` of the `total` programs of the list. */
typedef struct kiln_progress {
  size_t done;         /**< Up to this one; other threads may still be loading some of them. */
  size_t total;        /**< Of how many. */
  const char *program; /**< The one that was just loaded; borrowed. */
  kiln_status status;  /**< Of its load. */
  kiln_report *report; /**< Of its load; borrowed, never released. */
} kiln_progress;

/** Called after each program, on the thread that loaded it; non-zero stops the prefetch. */
typedef int (*kiln_progress_function)(const kiln_progress *progress, void *user);

/** Loads programs, of each the variant that kiln_load() takes by itself, and returns when each was
 * loaded or has failed. Several threads may call it with the same list: they share the work. A
 * program that cannot be loaded is no error here; its report goes to `progress`.
 * @param loader from where to where.
 * @param programs `count` names, none NULL.
 * @param count 0: all programs of the pack.
 * @param flags KILN_LOAD_* bits.
 * @param progress may be NULL.
 * @param user for `progress`.
 * @param error of the arguments. */
KILN_API kiln_status kiln_prefetch(kiln_loader *loader, const char *const *programs, size_t count,
                                   unsigned flags, kiln_progress_function progress, void *user,
                                   kiln_error *error);

/** Removes everything of Kiln's in an overlay folder, quarantines too; the markers of living
 * processes stay. No folder is an empty one. #KILN_ERROR_PACK_IO if something cannot be removed. */
KILN_API kiln_status kiln_overlay_clear(const char *folder, kiln_error *error);

/** @}
 * @name Reports
 * @{ */

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

/** @} */

#ifdef __cplusplus
}
#endif

#include "kiln/launch.h" /* a circle on purpose: either half, included first, gives both */

#endif /* KILN_KILN_H */
