/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * kiln_program_build(): one call in place of clCreateProgramWithSource(), clBuildProgram() and an
 * application's own cache of binaries. It looks for the program in a pack, stores in an overlay
 * what this device had to compile, and builds the source as before if neither helps. The rest of
 * the application does not change.
 *
 *     kiln_program_options programs = {0};
 *     programs.pack = "app.kiln";
 *     programs.overlay = "/home/user/.cache/app";
 *     status = kiln_program_build(context, device, source, "-DN=4", &programs, &program);
 *     ...
 *     kiln_program_close(&programs);
 *
 * The pack comes from `kiln record` on the application, `kiln compile` and `kiln build`. Its
 * programs are found by source and options, byte for byte (recorded.h), so a pack of another
 * version of the application is never wrong: what it lacks is built from source, and not stored.
 *
 * The header has all the code; it calls the OpenCL functions that the application links, and the
 * libraries kiln::runtime_shared and kiln::recorded (pkg-config kiln_recorded). For C99 and C++. An
 * application that is written for Kiln uses kiln.h instead: there a load can also take SPIR-V,
 * choose variants and require signatures. */
#ifndef KILN_KILN_PROGRAM_H
#define KILN_KILN_PROGRAM_H

#include <string.h>

#include "kiln/overlay.h"
#include "kiln/recorded.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where kiln_program_build() looks, and what it keeps between calls. Start from zeros, and set
 * what is wanted before the first call. For one thread at a time, and for one context and device:
 * another context or device closes what the one before had opened. */
typedef struct kiln_program_options {
  const char *pack;      /**< File of the pack; NULL: `pack_data`. */
  const void *pack_data; /**< A pack in memory, as kiln_embed_pack() embeds it; NULL: no pack. */
  size_t pack_size;      /**< Size of `pack_data`. */
  /** Folder for what this device compiles; NULL: none. See kiln_loader_use_overlay(). Only programs
   * that the pack has are stored. */
  const char *overlay;
  /** Called for each program that was looked for, with the load's report as JSON, or with a
   * sentence that says why it is built from source; may be NULL. */
  void (*report)(const char *text, void *user);
  void *user;          /**< Passed to `report`. */
  cl_context context;  /**< Kiln's own, as all that follows. */
  cl_device_id device; /**< The device of `loader`. */
  kiln_loader *loader; /**< NULL if the pack cannot be used, or before the first call. */
  char why[1024];      /**< Why the pack cannot be used. */
} kiln_program_options;

/** Releases what kiln_program_build() opened, after storing in the overlay what is missing there,
 * which may take as long as compiling. The programs live on. `programs` can be used again. */
static inline void kiln_program_close(kiln_program_options *programs) {
  kiln_loader_release(programs->loader);
  programs->loader = NULL;
  programs->context = NULL;
  programs->device = NULL;
}

/** Opens the pack for this context and device, once. Returns NULL if that fails; `why` says why. */
static inline kiln_loader *kiln_program_open(cl_context context, cl_device_id device,
                                             kiln_program_options *programs) {
  kiln_loader_options options;
  kiln_opencl *opencl = NULL;
  kiln_device *opened = NULL;
  kiln_pack *pack = NULL;
  kiln_error error;
  kiln_status status;
  if (programs->context == context && programs->device == device) return programs->loader;
  kiln_program_close(programs);
  programs->context = context;
  programs->device = device;
  memset(&error, 0, sizeof(error));
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.context = context;
  kiln_loader_use_overlay(&options, programs->overlay, 0);
  status = kiln_opencl_open(NULL, 0, &opencl, &error);
  if (status == KILN_OK) status = kiln_device_from_cl(opencl, device, &opened, &error);
  if (status == KILN_OK) {
    status = programs->pack != NULL
                 ? kiln_pack_open_file(programs->pack, &pack, &error)
                 : kiln_pack_open_memory(programs->pack_data, programs->pack_size, &pack, &error);
  }
  if (status == KILN_OK) {
    status = kiln_loader_create(opened, pack, &options, &programs->loader, &error);
  }
  memcpy(programs->why, error.message, sizeof(error.message));
  kiln_pack_release(pack); /* the loader keeps what it needs */
  kiln_device_release(opened);
  kiln_opencl_release(opencl);
  return programs->loader;
}

/** Loads the program from the pack or the overlay, or returns NULL; the caller owns the program. */
static inline cl_program kiln_program_find(cl_context context, cl_device_id device,
                                           const char *source, const char *options,
                                           kiln_program_options *programs) {
  char name[KILN_RECORDED_NAME_SIZE];
  kiln_loader *loader = kiln_program_open(context, device, programs);
  kiln_program *loaded = NULL;
  kiln_report *report = NULL;
  kiln_error error;
  cl_program program = NULL;
  kiln_status status = KILN_ERROR_NO_RUNG;
  memset(&error, 0, sizeof(error));
  if (loader == NULL) {
    memcpy(error.message, programs->why, sizeof(error.message));
  } else {
    status = kiln_recorded_name(source, strlen(source), options, name, sizeof(name), &error);
  }
  if (status == KILN_OK) {
    status = kiln_load(loader, name, NULL, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE, &loaded, &report,
                       &error);
    if (status == KILN_ERROR_NO_RUNG && programs->overlay != NULL) {
      kiln_report_release(report); /* compiled by Kiln, so that the overlay keeps the binary */
      report = NULL;
      status = kiln_load(loader, name, NULL, KILN_LOAD_NO_IL, &loaded, &report, &error);
    }
  }
  if (status == KILN_OK && clRetainProgram(kiln_program_cl(loaded)) == CL_SUCCESS) {
    program = kiln_program_cl(loaded);
  }
  if (programs->report != NULL) {
    programs->report(status == KILN_OK ? kiln_report_json(report) : error.message, programs->user);
  }
  kiln_report_release(report);
  kiln_program_release(loaded);
  return program;
}

/** Gives a program that is built for the device: from the pack, from the overlay, or from source.
 * @param context a context with the device.
 * @param device the only device that the program is built for.
 * @param source the whole source.
 * @param options the build options; may be NULL.
 * @param programs NULL, or without a pack: builds from source, as without Kiln.
 * @param program the program, which the caller releases. If the build fails, the program too, for
 * the caller to read the build log and to release; NULL if there is none.
 * @return the status of clCreateProgramWithSource() or clBuildProgram(). Kiln's own errors are none
 * of the caller's: they go to `programs->report`, and the source is built. */
static inline cl_int kiln_program_build(cl_context context, cl_device_id device, const char *source,
                                        const char *options, kiln_program_options *programs,
                                        cl_program *program) {
  const char *words = options != NULL ? options : "";
  cl_int status = CL_SUCCESS;
  *program = NULL;
  if (programs != NULL && (programs->pack != NULL || programs->pack_data != NULL)) {
    *program = kiln_program_find(context, device, source, words, programs);
  }
  if (*program != NULL) return CL_SUCCESS;
  *program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
  return *program == NULL ? status : clBuildProgram(*program, 1, &device, options, NULL, NULL);
}

#ifdef __cplusplus
}
#endif

#endif /* KILN_KILN_PROGRAM_H */
