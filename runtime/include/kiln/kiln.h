/* Kiln's runtime: finds the binary that fits this device and driver in a pack, falls back
 * to SPIR-V and then to source, says why, and launches kernels.
 *
 * Conventions
 *  1. A function that can fail returns kiln_status; KILN_OK is 0. Values never change
 *     their meaning; new ones are appended.
 *  2. The last parameter of such a function takes the details; it may be NULL.
 *  3. Handles are opaque. What a function hands out through `out` belongs to the caller,
 *     who gives it to the matching *_release; releasing NULL does nothing. `out` is
 *     written on success only, except where a function says otherwise.
 *  4. A handle keeps alive what it was made from; release in any order.
 *  5. Strings are NUL-terminated UTF-8. A returned string belongs to the handle that it
 *     was asked of and lives as long. NULL means absent, which is not "".
 *  6. Sizes are in bytes, times in nanoseconds unless a name says otherwise.
 *  7. Handles are safe to share between threads, except kiln_kernel, kiln_sequence and the
 *     mapping of one buffer or image, of which each is for one thread at a time.
 *  8. Any handle or pointer argument that must not be NULL and is gives
 *     KILN_ERROR_ARGUMENT. Nothing prints, throws, reads environment variables, or unloads
 *     an OpenCL library. Only an exhausted heap ends the process. Nothing is written to disk
 *     but what belongs to an overlay folder that the application named.
 *  9. OpenCL is reached through one table filled by dlopen; nothing links against it.
 */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stddef.h>
#include <stdint.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include "kiln/version.h"

#if defined(KILN_SHARED) && defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kiln_status {
  KILN_OK = 0,
  KILN_ERROR_ARGUMENT = 1,  /* a rule of the function was broken */
  KILN_ERROR_NO_OPENCL = 2, /* no OpenCL library; the message lists what was tried */
  KILN_ERROR_NO_DEVICE = 3, /* no platform, or no device at that index */
  KILN_ERROR_OPENCL = 4,    /* an OpenCL call failed; see kiln_error.cl_error */
  KILN_ERROR_PACK_NOT_FOUND = 5,
  KILN_ERROR_PACK_IO = 6,      /* the operating system refused */
  KILN_ERROR_PACK_BAD = 7,     /* not a pack, truncated, corrupt; the message says which */
  KILN_ERROR_PACK_NEWER = 8,   /* needs a newer reader */
  KILN_ERROR_NOT_IN_PACK = 9,  /* no such program, variant or kernel */
  KILN_ERROR_REQUIREMENT = 10, /* the device lacks what the variant needs */
  KILN_ERROR_NO_RUNG = 11      /* every rung was skipped or failed; see the report */
} kiln_status;

/* Rungs of the ladder, best first; the intermediate one, which came later, stands between
 * compatible and IL. */
typedef enum kiln_rung {
  KILN_RUNG_OVERLAY = 0,
  KILN_RUNG_EXACT = 1,
  KILN_RUNG_COMPATIBLE = 2,
  KILN_RUNG_IL = 3,
  KILN_RUNG_SOURCE = 4,
  KILN_RUNG_ERROR = 5,
  /* A form that the driver still compiles when it loads it, and that later GPUs take, too: PTX. */
  KILN_RUNG_INTERMEDIATE = 6
} kiln_rung;

/* Whether the driver compiles anything when a loaded program is first launched. */
typedef enum kiln_finality {
  KILN_FINAL_UNKNOWN = 0, /* not launched where that could be observed */
  KILN_FINAL_YES = 1,     /* a fresh process did, with empty caches, and nothing was compiled */
  KILN_FINAL_NO = 2
} kiln_finality;

typedef enum kiln_outcome {
  KILN_OUTCOME_LOADED = 0,
  KILN_OUTCOME_SKIPPED = 1, /* not tried: switched off, or the device cannot */
  KILN_OUTCOME_MISSED = 2,  /* the pack has nothing that fits */
  KILN_OUTCOME_FAILED = 3,  /* tried, and the driver or a check said no */
  KILN_OUTCOME_QUARANTINED = 4
} kiln_outcome;

/* By what a load took its variant. */
typedef enum kiln_choice {
  KILN_CHOICE_NAME = 0,        /* it was asked for */
  KILN_CHOICE_MEASUREMENT = 1, /* the fastest here, or where it is most like here */
  KILN_CHOICE_PREFERENCE = 2,  /* the pack's order of preference */
  KILN_CHOICE_ORDER = 3        /* the first by name */
} kiln_choice;

/* Details of a failure. A message longer than the field is cut. */
typedef struct kiln_error {
  kiln_status status;
  cl_int cl_error; /* the OpenCL error code, or 0 */
  char message[1024];
} kiln_error;

typedef struct kiln_opencl kiln_opencl;   /* the table of OpenCL entry points */
typedef struct kiln_device kiln_device;   /* a device, its identity and profile */
typedef struct kiln_pack kiln_pack;       /* an open pack */
typedef struct kiln_loader kiln_loader;   /* pack + device + context */
typedef struct kiln_program kiln_program; /* a loaded variant of a program */
typedef struct kiln_report kiln_report;   /* how a load went */
typedef struct kiln_kernel kiln_kernel;
typedef struct kiln_queue kiln_queue;
typedef struct kiln_buffer kiln_buffer;
typedef struct kiln_image kiln_image;
typedef struct kiln_event kiln_event;

/* KILN_VERSION of the library, which is another than the headers' where a program runs with a
 * newer one. */
KILN_API unsigned kiln_version(void);

/* ---- OpenCL and devices ---- */

/* Opens the first library of `candidates` (names or paths) that has every entry point that
 * Kiln needs; with count 0, the platform's usual names. */
KILN_API kiln_status kiln_opencl_open(const char *const *candidates, size_t count,
                                      kiln_opencl **out, kiln_error *error);
KILN_API void kiln_opencl_release(kiln_opencl *opencl);

/* Number of devices of all platforms, in the order of `kiln devices`. A platform that
 * fails is passed over; none at all is KILN_ERROR_NO_DEVICE. */
KILN_API kiln_status kiln_device_count(kiln_opencl *opencl, size_t *out, kiln_error *error);
KILN_API kiln_status kiln_device_open(kiln_opencl *opencl, size_t index, kiln_device **out,
                                      kiln_error *error);
/* The same for a device that the application chose itself. */
KILN_API kiln_status kiln_device_from_cl(kiln_opencl *opencl, cl_device_id device,
                                         kiln_device **out, kiln_error *error);
KILN_API void kiln_device_release(kiln_device *device);
KILN_API cl_device_id kiln_device_cl(const kiln_device *device);
/* A raw fact of the identity by name ("device_name", "driver_version", ...), or what the
 * profile made of it: "profile", "family", "model", "compiler", "key". NULL: absent. */
KILN_API const char *kiln_device_info(const kiln_device *device, const char *name);

/* ---- Packs ---- */

KILN_API kiln_status kiln_pack_open_file(const char *path, kiln_pack **out, kiln_error *error);
/* `length` bytes at `offset` of a descriptor (an Android asset); it may be closed after. */
KILN_API kiln_status kiln_pack_open_descriptor(int fd, uint64_t offset, uint64_t length,
                                               kiln_pack **out, kiln_error *error);
/* Memory aligned to 8 bytes, which stays valid and unchanged while the pack is in use. */
KILN_API kiln_status kiln_pack_open_memory(const void *memory, size_t size, kiln_pack **out,
                                           kiln_error *error);
KILN_API void kiln_pack_release(kiln_pack *pack);

/* ---- Loading ---- */

/* Rungs to leave out, extra work, and what the program is for, as bits. An unknown bit is
 * KILN_ERROR_ARGUMENT. */
enum {
  KILN_LOAD_NO_BINARY = 1, /* leave out the rungs overlay, exact, compatible and intermediate */
  KILN_LOAD_NO_IL = 2,
  KILN_LOAD_NO_SOURCE = 4,
  /* Compare the driver's binary with the one given, on every load. With an overlay that is
   * done once per binary and driver, and remembered. */
  KILN_LOAD_CHECK_RECOMPILED = 8,
  /* Allow the compatible rung: another target's binary that the vendor's rule or a recorded
   * cross-check says serves this device. */
  KILN_LOAD_COMPATIBLE = 16,
  KILN_LOAD_NO_OVERLAY = 32, /* neither take a binary from the overlay nor store one there */
  /* Where Kiln chooses the variant: for problems of fewer than 65,536 elements, or of fewer than
   * 1,048,576. One of them; with neither it is for larger ones. */
  KILN_LOAD_FOR_SMALL = 64,
  KILN_LOAD_FOR_MEDIUM = 128
};

typedef enum kiln_notice_kind {
  KILN_NOTICE_RUNG = 0,       /* a rung was passed over; `outcome` and `text` say why */
  KILN_NOTICE_LOADED = 1,     /* `rung` gave the program */
  KILN_NOTICE_NOT_LOADED = 2, /* no rung did */
  KILN_NOTICE_RECOMPILED = 3, /* the driver silently compiled the binary of `rung` anew */
  KILN_NOTICE_STORED = 4,     /* the driver's binary is in the overlay, on disk */
  KILN_NOTICE_NOT_STORED = 5, /* it is not; `text` says why */
  KILN_NOTICE_DEATH = 6,      /* an earlier process ended inside the driver, or hangs there */
  KILN_NOTICE_NO_OVERLAY = 7, /* the overlay cannot be used; `text` says why */
  KILN_NOTICE_NO_GUARD = 8    /* no marker could be written: a death would not be seen */
} kiln_notice_kind;

/* Something that happened while loading, for telemetry. The strings are never NULL and live
 * until the callback returns; `program` and `variant` are "" where they do not apply. */
typedef struct kiln_notice {
  kiln_notice_kind kind;
  kiln_rung rung;
  kiln_outcome outcome;
  const char *program;
  const char *variant;
  const char *text;
  double milliseconds; /* of the whole load, for LOADED and NOT_LOADED */
} kiln_notice;

/* Called on the thread that loads; must not call back into the same loader. */
typedef void (*kiln_notice_function)(const kiln_notice *notice, void *user);

/* Asked before a compatible binary is used for the first time with this driver (each time
 * where there is no overlay to remember it): runs what it likes with `program`, which is
 * borrowed, and returns non-zero when the results are right. Must not call back into the same
 * loader. */
typedef int (*kiln_check_function)(kiln_program *program, void *user);

/* A wish that a driver may be unable to meet. */
typedef enum kiln_level {
  KILN_LEVEL_DEFAULT = 0, /* no wish */
  KILN_LEVEL_LOW = 1,
  KILN_LEVEL_MEDIUM = 2,
  KILN_LEVEL_HIGH = 3
} kiln_level;

/* What was asked for and taken, as bits. */
enum {
  KILN_HINT_PRIORITY = 1,
  KILN_HINT_THROTTLE = 2,
  KILN_HINT_OUT_OF_ORDER = 4,
  KILN_HINT_PERFORMANCE = 8
};

/* What a loader may be given beside device and pack. Start from zeros with `size` set to
 * sizeof(kiln_loader_options). A shorter one from an older header is accepted; of a longer one the
 * bytes that this library does not know must be zero, else KILN_ERROR_ARGUMENT. */
typedef struct kiln_loader_options {
  size_t size;
  cl_context context; /* holds the device and is retained; NULL makes one of Kiln's own */
  /* Folder of the overlay: the application's own, on a local disk, one for all its packs and
   * processes. Made if its parent is there. It keeps what this device had to compile, and
   * what is known of drivers that died. NULL, or a folder that cannot be used: no overlay
   * and no quarantine, which the report says and which is never an error. */
  const char *overlay;
  uint64_t overlay_limit; /* bytes of binaries kept, least recently used first out; 0: 64 MiB */
  /* A load that hangs for longer counts as a death at the next start, and a binary that took
   * longer is not used again; 0: none. */
  uint32_t deadline_milliseconds;
  uint32_t reserved;           /* zero */
  kiln_notice_function notice; /* may be NULL */
  void *notice_user;
  kiln_check_function check; /* may be NULL: then it is enough that nothing was recompiled */
  void *check_user;
  kiln_level performance; /* of a context that Kiln makes: cl_qcom_perf_hint */
  kiln_level priority;    /* of the same: cl_qcom_priority_hint */
} kiln_loader_options;

/* `options` NULL: all defaults. The loader keeps every program that it loaded. Releasing it
 * finishes first, as kiln_loader_finish does: release loaders before the process begins to exit. */
KILN_API kiln_status kiln_loader_create(kiln_device *device, kiln_pack *pack,
                                        const kiln_loader_options *options, kiln_loader **out,
                                        kiln_error *error);
KILN_API void kiln_loader_release(kiln_loader *loader);
KILN_API cl_context kiln_loader_context(const kiln_loader *loader);
/* Makes final what this device had to compile, and puts it into the overlay, so that the next start
 * compiles nothing, not even at a first launch. For each program that did not come from a final
 * binary, once: NVIDIA's PTX becomes a cubin (some 150 ms); PoCL's binary is taken again with the
 * code of all work-group sizes that were launched; other drivers' binaries were stored when they
 * were loaded. Call it when the first results are there, from any thread but not from a callback;
 * it waits for nothing that was enqueued. Without it a loader's release does the same. An
 * application that ends before both leaves the driver's plain binary, and the next start improves
 * it. Returns KILN_OK when there is no overlay, too; what could not be stored is a notice. */
KILN_API kiln_status kiln_loader_finish(kiln_loader *loader, kiln_error *error);
/* The KILN_HINT_* bits that the context was made with. */
KILN_API unsigned kiln_loader_hints(const kiln_loader *loader);

/* Loads a variant; `variant` NULL takes, of those that the device can run, the one that was
 * measured the fastest, else the first that the pack prefers, else the first by name; see
 * docs/loading.md. `report` may be NULL; else it is written whenever the arguments were valid,
 * also on failure. Any error code from the driver is a miss of that rung and never the end. The
 * same variant with the same flags is loaded once, whichever threads ask; all get one report,
 * but for what it says of the choice. */
KILN_API kiln_status kiln_load(kiln_loader *loader, const char *program, const char *variant,
                               unsigned flags, kiln_program **out, kiln_report **report,
                               kiln_error *error);
KILN_API void kiln_program_release(kiln_program *program);
KILN_API cl_program kiln_program_cl(const kiln_program *program);
/* Of the program, and of the variant that was loaded. NULL for NULL. */
KILN_API const char *kiln_program_name(const kiln_program *program);
KILN_API const char *kiln_program_variant(const kiln_program *program);

/* Where a prefetch is: `done` of the `total` programs of the list lie behind this thread.
 * `report` is borrowed; `status` is that of the program's load. */
typedef struct kiln_progress {
  size_t done;
  size_t total;
  const char *program;
  kiln_status status;
  kiln_report *report;
} kiln_progress;

/* Called after each program, on the thread that loaded it; non-zero stops the prefetch. */
typedef int (*kiln_progress_function)(const kiln_progress *progress, void *user);

/* Loads `programs` (with count 0, all of the pack), of each the variant that kiln_load takes
 * by itself, and returns when each was loaded or has failed. Several threads may call it with
 * the same list: they share the work. A program that cannot be loaded is no error here; its
 * report goes to `progress`, which may be NULL. */
KILN_API kiln_status kiln_prefetch(kiln_loader *loader, const char *const *programs, size_t count,
                                   unsigned flags, kiln_progress_function progress, void *user,
                                   kiln_error *error);

/* Removes everything of Kiln's in an overlay folder, quarantines too. Other processes may be
 * using it; the markers of living ones stay. A folder that is not there is an empty one. */
KILN_API kiln_status kiln_overlay_clear(const char *folder, kiln_error *error);

KILN_API void kiln_report_release(kiln_report *report);
KILN_API kiln_rung kiln_report_rung(const kiln_report *report);
/* What became of `rung`, and why, as a sentence. A rung below the used one gives NULL. */
KILN_API const char *kiln_report_reason(const kiln_report *report, kiln_rung rung,
                                        kiln_outcome *outcome);
/* Why this variant, as a sentence ("preferred by the pack"); `*choice`, where it is not NULL, gets
 * the same as a value. NULL, and `*choice` untouched, where there was none to load. */
KILN_API const char *kiln_report_choice(const kiln_report *report, kiln_choice *choice);
/* Whether the first launch compiles anything; `*reason`, where it is not NULL, gets why not as a
 * sentence, or "". NULL as report is KILN_FINAL_UNKNOWN. */
KILN_API kiln_finality kiln_report_final(const kiln_report *report, const char **reason);
KILN_API double kiln_report_milliseconds(const kiln_report *report);
/* The load report of docs/loading.md, schema 1. The nearest target is looked for here, not at
 * load; a program that was loaded from the overlay or its exact binary has none. */
KILN_API const char *kiln_report_json(kiln_report *report);

#ifdef __cplusplus
}
#endif

#include "kiln/launch.h"

#endif /* KILN_KILN_H */
