/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Kiln's runtime: finds the binary that fits this device and driver in a pack, falls back to SPIR-V
 * and then to source, says why, and launches kernels.
 *
 * A whole program, without its checks of what each call returns, and the releases:
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
 * An application with code of its own for OpenCL takes kiln_program_cl() and needs no more.
 * launch.h has kernels, queues and memory; overlay.h keeps what this device compiled;
 * loader_options.h has notices and hints, prefetch.h many programs at once; trust.h, driver.h,
 * import.h, provision.h and listing.h the rest.
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

#include "kiln/loader_options.h"
#include "kiln/report.h"
#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/** The KILN_HINT_* bits (loader_options.h) that the context was made with. */
KILN_API unsigned kiln_loader_hints(const kiln_loader *loader);

/** Loads a variant, on the calling thread. Any error code from the driver is a miss of that rung
 * and never the end. The same variant with the same flags is loaded once, whichever threads ask;
 * all share one report; only its `choice` differs. A load that failed is tried again by the
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
/** Which rung kiln_load() with the same arguments would try first, found without giving the driver
 * anything: for installers, and to show "preparing" before a start that compiles. Records nothing.
 * The report is set in any case but #KILN_ERROR_ARGUMENT. The driver may still refuse what that
 * rung has. #KILN_ERROR_NO_RUNG if there is none. */
KILN_API kiln_status kiln_load_dry_run(kiln_loader *loader, const char *program,
                                       const char *variant, unsigned flags, kiln_report **report,
                                       kiln_error *error);

/** Releases the handle; NULL does nothing. The loader keeps what was loaded. */
KILN_API void kiln_program_release(kiln_program *program);
/** The OpenCL program, which is not retained for the caller. */
KILN_API cl_program kiln_program_cl(const kiln_program *program);
/** The program's name in the pack. */
KILN_API const char *kiln_program_name(const kiln_program *program);
/** The name of the variant that was loaded, chosen or asked for. */
KILN_API const char *kiln_program_variant(const kiln_program *program);

/** @} */

#ifdef __cplusplus
}
#endif

#include "kiln/launch.h" /* a circle on purpose: either half, included first, gives both */

#endif /* KILN_KILN_H */
