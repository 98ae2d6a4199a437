/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Kiln's runtime: finds in a pack the binary that fits this device and driver, falls back to SPIR-V
 * and then to source, says why, and launches kernels.
 *
 * A whole program, without its error checks and releases:
 *
 *     kiln_opencl_open(NULL, 0, &opencl, NULL);
 *     kiln_device_open(opencl, 0, &device, NULL);
 *     kiln_pack_open_file("app.kiln", &pack, NULL);
 *     kiln_loader_create(device, pack, NULL, &loader, NULL);
 *     kiln_load(loader, "saxpy", NULL, 0, &program, &report, NULL);
 *     puts(kiln_report_json(report));
 *     kiln_kernel_create(program, "saxpy", &kernel, NULL);
 *     kiln_queue_create(loader, NULL, &queue, NULL);
 *     kiln_launch(queue, kernel, &range, NULL, 0, NULL, NULL, NULL);
 *     kiln_queue_finish(queue, NULL);
 *
 * An application with its own OpenCL code gets the cl_program from kiln_program_cl() after
 * kiln_load(), and needs none of the calls that follow. launch.h has kernels, queues and memory;
 * overlay.h stores what this device compiled; loader_options.h has notices and hints; prefetch.h
 * loads many programs at once; trust.h requires signatures, and signed.h checks them; driver.h
 * unloads compilers, sets performance levels and reads clocks; sequence.h records launches;
 * import.h imports memory; provision.h fills Mesa's shader cache; listing.h lists a pack;
 * recorded.h names and keeps programs. The table "Words" of docs/understand/design.md explains
 * pack, variant, target, rung, overlay and final.
 *
 * Conventions for every function of the C headers:
 *  1. A function that can fail returns #kiln_status; #KILN_OK is 0. Values never change their
 *     meaning; new ones are appended.
 *  2. The last parameter of such a function, `error`, receives the details; it may be NULL. Its
 *     contents after success have no meaning.
 *  3. Handles are opaque. A handle that a function returns through `out` belongs to the caller, who
 *     releases it with the matching `*_release`; releasing NULL does nothing. `out` is written on
 *     success only, unless a function says otherwise.
 *  4. A handle keeps alive the objects that it was made from; release handles in any order.
 *  5. Strings are NUL-terminated UTF-8. A returned string belongs to the handle that the function
 *     was called with, and lives as long as the handle. NULL means absent, which is not "". A
 *     function copies a string argument before it returns if it needs the string for longer.
 *  6. Sizes are in bytes, times in nanoseconds, unless a name says otherwise.
 *  7. Any thread may call any function at any time with any handle, with two exceptions. Only one
 *     thread at a time may use a kiln_kernel, a kiln_sequence, an event that is being reused, or
 *     the mapping of a buffer or image. No thread may use a handle during or after its release.
 *  8. A required handle or pointer argument that is NULL gives #KILN_ERROR_ARGUMENT. If the
 *     function returns a value instead of a status, it returns NULL, 0 or the value that its
 *     comment names. No function prints, throws, or unloads an OpenCL library. Kiln itself ends the
 *     process only if the heap is exhausted; a crash of the driver can still end it. Kiln reads no
 *     environment variables and writes only to the overlay folder that the application named,
 *     unless provision.h or recorded.h says otherwise.
 *  9. OpenCL is reached through one table filled by dlopen; nothing links against OpenCL. Any
 *     function that calls OpenCL may give #KILN_ERROR_OPENCL with the code in kiln_error.cl_error.
 *  10. A struct with a member `size` may gain members at its end. A struct without `size` that the
 *      caller allocates (kiln_error, kiln_ndrange, kiln_times) does not grow after 1.0. */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include "kiln/loader_options.h"
#include "kiln/report.h"
#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the version of the library that the program runs with: 10,000 * major + 100 * minor +
 * patch. #KILN_VERSION is the version of the headers that the program was compiled with, in the
 * same form. */
KILN_API unsigned kiln_version(void);

/** @name OpenCL and devices
 * @{ */

/** Opens the first OpenCL library that has every entry point that Kiln needs.
 * @param candidates `count` names or paths, none NULL, tried in that order.
 * @param count 0: tries the platform's usual names and ignores `candidates`.
 * @param out the table; the library stays loaded until the process ends.
 * @param error #KILN_ERROR_NO_OPENCL lists each candidate and what it lacks. */
KILN_API kiln_status kiln_opencl_open(const char *const *candidates, size_t count,
                                      kiln_opencl **out, kiln_error *error);
/** Releases the handle; NULL does nothing. */
KILN_API void kiln_opencl_release(kiln_opencl *opencl);

/** Counts the devices of all platforms, in the order of `kiln devices`. Skips a platform that
 * fails. Fails with #KILN_ERROR_NO_DEVICE if there is no device. */
KILN_API kiln_status kiln_device_count(kiln_opencl *opencl, size_t *out, kiln_error *error);
/** Opens the device at `index`, from 0 in the order of kiln_device_count(), and queries its
 * identity. Fails with #KILN_ERROR_NO_DEVICE if there are fewer devices. */
KILN_API kiln_status kiln_device_open(kiln_opencl *opencl, size_t index, kiln_device **out,
                                      kiln_error *error);
/** Opens a device that the application chose itself, from the OpenCL library of `opencl`. A
 * sub-device is retained. */
KILN_API kiln_status kiln_device_from_cl(kiln_opencl *opencl, cl_device_id device,
                                         kiln_device **out, kiln_error *error);
/** Releases the handle; NULL does nothing. */
KILN_API void kiln_device_release(kiln_device *device);
/** Returns the OpenCL device; it is not retained for the caller. */
KILN_API cl_device_id kiln_device_cl(const kiln_device *device);
/** Returns device info by name: a string as the driver gave it ("device_name", "driver_version",
 * ...), or a value that Kiln derived: "profile", "family", "model", "compiler", or "key": a
 * binary is exact if its target in the pack has the same key. Returns NULL if the device does not
 * have the value or the name is unknown. */
KILN_API const char *kiln_device_info(const kiln_device *device, const char *name);

/** @}
 * @name Packs
 * Each part of a pack's file is checked when it is read. To replace the file, write a new one and
 * rename it over the old one, as the command line does: processes that have the old file open keep
 * it. If a file is overwritten or truncated while it is open, a rung whose bytes are damaged or
 * gone fails, and the process goes on.
 *
 * All functions that open a pack can fail with #KILN_ERROR_PACK_NOT_FOUND, #KILN_ERROR_PACK_IO,
 * #KILN_ERROR_PACK_BAD and #KILN_ERROR_PACK_NEWER.
 * @{ */

/** Opens a regular file; the whole file is the pack. */
KILN_API kiln_status kiln_pack_open_file(const char *path, kiln_pack **out, kiln_error *error);
/** Opens `length` bytes at `offset` of a file (an Android asset). `offset` need not be aligned. The
 * descriptor must be readable; it stays the caller's and may be closed after the call. */
KILN_API kiln_status kiln_pack_open_descriptor(int fd, uint64_t offset, uint64_t length,
                                               kiln_pack **out, kiln_error *error);
/** Opens `size` bytes of memory, aligned to 8 bytes. The memory stays the caller's. It must stay
 * valid and unchanged until the pack and everything that was made from it are released. */
KILN_API kiln_status kiln_pack_open_memory(const void *memory, size_t size, kiln_pack **out,
                                           kiln_error *error);
/** Releases the handle; NULL does nothing. */
KILN_API void kiln_pack_release(kiln_pack *pack);

/** @}
 * @name Loading
 * @{ */

/** Flags of a load: rungs to leave out, extra checks, the problem size. Unknown bits give
 * #KILN_ERROR_ARGUMENT. */
enum {
  KILN_LOAD_NO_BINARY = 1, /**< Leave out the rungs overlay, exact, intermediate (PTX). */
  KILN_LOAD_NO_IL = 2,     /**< Leave out the rung IL. */
  KILN_LOAD_NO_SOURCE = 4, /**< Leave out the rung source. */
  /** On every load, ask the driver for the program's binary and compare it with the one that Kiln
   * gave, to notice that the driver recompiled it. With an overlay, Kiln does this once for each
   * binary and driver version even without the flag. */
  KILN_LOAD_CHECK_RECOMPILED = 8,
  KILN_LOAD_NO_EXACT = 16,   /**< Leave out the rung exact. */
  KILN_LOAD_NO_OVERLAY = 32, /**< Neither take a binary from the overlay nor store one there. */
  /** Choose the variant for problems of fewer than 65,536 elements, unless the caller names one.
   * With neither this flag nor #KILN_LOAD_FOR_MEDIUM, Kiln chooses for the largest problems; both
   * flags together give #KILN_ERROR_ARGUMENT. */
  KILN_LOAD_FOR_SMALL = 64,
  KILN_LOAD_FOR_MEDIUM = 128, /**< Choose for fewer than 1,048,576 elements. */
  /** Load a variant that the caller names even if it requires a proof, a recorded comparison with
   * the manifest's reference, that the pack lacks. */
  KILN_LOAD_UNPROVEN = 256,
  /** Compile nothing: leave out intermediate (PTX), IL and source, and fail the rung whose binary
   * the driver recompiles. The error then names the program, each rung and its reason. */
  KILN_LOAD_REQUIRE_EXACT = 512,
  /** The same, and fail a rung whose binary is not known to be final. */
  KILN_LOAD_REQUIRE_FINAL = 1024
};

/** Creates a loader, with a context unless the options name one, and opens the overlay. The
 * callbacks in the options may be called until the loader is released.
 * @param device the device to load for.
 * @param pack the pack to load from.
 * @param options NULL: all defaults. The options are copied.
 * @param out the loader. It keeps every program that it loaded.
 * @param error #KILN_ERROR_ARGUMENT if an option breaks its rules, #KILN_ERROR_UNTRUSTED if the
 * pack is not signed as the options require, or #KILN_ERROR_OPENCL if no context can be created. An
 * overlay that cannot be used is not an error. */
KILN_API kiln_status kiln_loader_create(kiln_device *device, kiln_pack *pack,
                                        const kiln_loader_options *options, kiln_loader **out,
                                        kiln_error *error);
/** Releases the handle, after finishing as kiln_loader_finish() does, which may take as long as
 * compiling. Release loaders before the process begins to exit. NULL does nothing. */
KILN_API void kiln_loader_release(kiln_loader *loader);
/** Returns the context; it is not retained for the caller. */
KILN_API cl_context kiln_loader_context(const kiln_loader *loader);
/** Finishes the programs that had to be compiled on this device, where possible, and stores them in
 * the overlay, so that the next run has nothing left to compile, not even at a first launch. Each
 * program that did not come from a final binary is finished once: NVIDIA's PTX becomes a cubin
 * (about 150 ms); PoCL's program is built again, so that its binary holds the code of all
 * work-group sizes that were launched. Only PoCL's binary is first stored here, since PoCL compiles
 * when it is asked for one; kiln_load() has already stored the others as the driver gave them.
 *
 * Call it once the first results are available, from any thread but not from a callback; it does
 * not wait for enqueued commands. If it is not called, releasing the loader does the same. If the
 * application ends before it calls this function or releases the loader, the overlay keeps
 * NVIDIA's unfinished binary, which the next run finishes, and nothing of PoCL's, which the next
 * run compiles again. Also returns #KILN_OK if there is no overlay; a notice reports what could not
 * be stored. */
KILN_API kiln_status kiln_loader_finish(kiln_loader *loader, kiln_error *error);
/** Returns the KILN_HINT_* bits (types.h) that the context was made with. */
KILN_API unsigned kiln_loader_hints(const kiln_loader *loader);

/** Loads a variant, on the calling thread. An error code from the driver fails only the rung that
 * was tried, not the load. All calls for the same variant and flags (#KILN_LOAD_FOR_SMALL and
 * #KILN_LOAD_FOR_MEDIUM do not count) share one load, and return the same program and equal
 * reports, except for kiln_report_choice(). After a failed load, the next call tries again.
 * @param loader the loader, with its pack and device.
 * @param program the program's name.
 * @param variant NULL chooses among the variants that the device can run: the fastest by the pack's
 * measurements (of those within 3%, the first that the pack prefers), else the first that the pack
 * prefers, else the first by name. Variants that require a proof that the pack lacks are not
 * chosen; see docs/use/loading.md.
 * @param flags KILN_LOAD_* bits.
 * @param out the program.
 * @param report may be NULL; else it is written whenever the arguments were valid, also on failure.
 * @param error #KILN_ERROR_NOT_IN_PACK, #KILN_ERROR_REQUIREMENT or #KILN_ERROR_NO_RUNG. */
KILN_API kiln_status kiln_load(kiln_loader *loader, const char *program, const char *variant,
                               unsigned flags, kiln_program **out, kiln_report **report,
                               kiln_error *error);
/** Finds which rung kiln_load() with the same arguments would try first. Gives the driver
 * nothing and records nothing. Meant for installers, and for applications that show "preparing"
 * before a run that has to compile. The report is set unless the call fails with
 * #KILN_ERROR_ARGUMENT. The driver may still refuse that rung's bytes. Fails with
 * #KILN_ERROR_NO_RUNG if no rung can be tried. */
KILN_API kiln_status kiln_load_dry_run(kiln_loader *loader, const char *program,
                                       const char *variant, unsigned flags, kiln_report **report,
                                       kiln_error *error);

/** Releases the handle; NULL does nothing. The loader keeps the loaded program. */
KILN_API void kiln_program_release(kiln_program *program);
/** Returns the OpenCL program; it is not retained for the caller. */
KILN_API cl_program kiln_program_cl(const kiln_program *program);
/** Returns the program's name in the pack. */
KILN_API const char *kiln_program_name(const kiln_program *program);
/** Returns the name of the loaded variant, whether chosen by Kiln or named by the caller. */
KILN_API const char *kiln_program_variant(const kiln_program *program);

/** @} */

#ifdef __cplusplus
}
#endif

#include "kiln/launch.h" /* an intentional cycle: either header, included first, gives both */

#endif /* KILN_KILN_H */
