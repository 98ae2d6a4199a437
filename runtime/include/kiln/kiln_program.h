/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * kiln_program_build(): one call in place of clCreateProgramWithSource(), clBuildProgram() and an
 * application's own cache of binaries. It looks for the program in a pack and in an overlay, and
 * builds the source as before if neither has it; the overlay then keeps what was built. The rest of
 * the application does not change.
 *
 *     kiln_program_options programs = {0};
 *     programs.pack = "app.kiln";
 *     programs.overlay = "/home/user/.cache/app";
 *     status = kiln_program_build(context, device, source, "-DN=4", &programs, &program);
 *     ...
 *     kiln_program_close(&programs);
 *
 * Pack and overlay are optional. The pack comes from `kiln record` on the application, `kiln
 * compile` and `kiln build`. Programs are found by source and options, byte for byte (recorded.h),
 * so a pack of another version of the application is never wrong. A program whose compilation may
 * depend on more than that, as one with __TIME__, is built from source each time.
 *
 * The header has all the code; it calls the OpenCL functions that the application links, and the
 * libraries kiln::runtime_shared and kiln::recorded (pkg-config kiln_recorded). For C99 and C++. An
 * application that is written for Kiln uses kiln.h instead: there a load can also take SPIR-V,
 * choose variants and require signatures. */
#ifndef KILN_KILN_PROGRAM_H
#define KILN_KILN_PROGRAM_H

#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "kiln/overlay.h"
#include "kiln/recorded.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A program that was built from source, until kiln_program_close() stores it. */
typedef struct kiln_program_built {
  struct kiln_program_built *next;    /**< Built before it; NULL: none. */
  cl_program program;                 /**< Retained. */
  char name[KILN_RECORDED_NAME_SIZE]; /**< From kiln_recorded_name(). */
  const char *options;                /**< Behind the source, in the same memory as this struct. */
  char source[1];                     /**< The whole source, with its NUL. */
} kiln_program_built;

/** Where kiln_program_build() looks, and what it keeps between calls. Start from zeros, and set
 * what is wanted before the first call. For one thread at a time, and for one context and device:
 * another context or device closes what the one before had opened. */
typedef struct kiln_program_options {
  const char *pack;      /**< File of the pack; NULL: `pack_data`. */
  const void *pack_data; /**< A pack in memory, as kiln_embed_pack() embeds it; NULL: no pack. */
  size_t pack_size;      /**< Size of `pack_data`. */
  /** Folder for what this device compiles, at most 1 GiB; NULL: none, and what is built from source
   * is not kept. See kiln_loader_use_overlay(). */
  const char *overlay;
  /** Called for each program that was looked for, with the load's report as JSON, or with a
   * sentence that says why it is built from source; and for each that kiln_program_close() cannot
   * store. In the report of a program that no pack has, the overlay's binary is `exact`. May be
   * NULL. */
  void (*report)(const char *text, void *user);
  void *user;                /**< Passed to `report`. */
  cl_context context;        /**< Kiln's own, as all that follows. */
  cl_device_id device;       /**< The device of `opened`. */
  kiln_device *opened;       /**< NULL if Kiln cannot be used, or before the first call. */
  kiln_loader *loader;       /**< NULL if the pack cannot be used, or before the first call. */
  char why[1024];            /**< Why the device or the pack cannot be used. */
  kiln_program_built *built; /**< What was built from source. */
} kiln_program_options;

/** Makes a loader for the pack, which it takes over, with the overlay. */
static inline kiln_status kiln_program_loader(const kiln_program_options *programs, kiln_pack *pack,
                                              kiln_loader **loader, kiln_error *error) {
  kiln_loader_options options;
  kiln_status status;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.context = programs->context;
  kiln_loader_use_overlay(&options, programs->overlay, (uint64_t)1 << 30);
  status = kiln_loader_create(programs->opened, pack, &options, loader, error);
  kiln_pack_release(pack); /* the loader keeps what it needs */
  return status;
}

/** Opens a loader for a program that the overlay keeps. */
static inline kiln_status kiln_program_kept(const kiln_program_options *programs, const char *name,
                                            kiln_loader **loader, kiln_error *error) {
  kiln_pack *pack = NULL;
  uint64_t size = 0;
  int file = -1;
  kiln_status status =
      kiln_recorded_find(programs->overlay, programs->device, name, &file, &size, error);
  if (status != KILN_OK) return status;
  status = kiln_pack_open_descriptor(file, 0, size, &pack, error);
  close(file);
  return status == KILN_OK ? kiln_program_loader(programs, pack, loader, error) : status;
}

/** Stores a program that was built from source, and loads it as the next start will: so the next
 * start knows what its driver survives, and NVIDIA's PTX becomes a cubin, which is stored, too. */
static inline kiln_status kiln_program_store(const kiln_program_options *programs,
                                             const kiln_program_built *built, kiln_error *error) {
  kiln_loader *kept = NULL;
  kiln_program *loaded = NULL;
  kiln_report *report = NULL;
  kiln_status status =
      kiln_recorded_store(programs->overlay, programs->device, built->program, built->source,
                          strlen(built->source), built->options, built->name, error);
  if (status == KILN_OK) status = kiln_program_kept(programs, built->name, &kept, error);
  if (status == KILN_OK) {
    status = kiln_load(kept, built->name, NULL, KILN_LOAD_NO_IL, &loaded, &report, error);
  }
  kiln_report_release(report);
  kiln_program_release(loaded);
  kiln_loader_release(kept);
  return status;
}

/** Stores in the overlay what was built from source, then releases what kiln_program_build()
 * opened. May take as long as compiling: PoCL compiles when it is asked for a binary. Call it after
 * the first results, and before the process begins to exit; without it nothing is stored. The
 * programs live on. `programs` can be used again. */
static inline void kiln_program_close(kiln_program_options *programs) {
  kiln_program_built *built = programs->built;
  while (built != NULL) {
    kiln_program_built *next = built->next;
    kiln_error error;
    if (kiln_program_store(programs, built, &error) != KILN_OK && programs->report != NULL) {
      programs->report(error.message, programs->user);
    }
    clReleaseProgram(built->program);
    free(built);
    built = next;
  }
  kiln_loader_release(programs->loader);
  kiln_device_release(programs->opened);
  programs->built = NULL;
  programs->loader = NULL;
  programs->opened = NULL;
  programs->context = NULL;
  programs->device = NULL;
}

/** Opens the device and the pack for this context and device, once. */
static inline void kiln_program_open(cl_context context, cl_device_id device,
                                     kiln_program_options *programs) {
  kiln_opencl *opencl = NULL;
  kiln_pack *pack = NULL;
  kiln_error error;
  kiln_status status;
  if (programs->context == context && programs->device == device) return;
  kiln_program_close(programs);
  programs->context = context;
  programs->device = device;
  memset(&error, 0, sizeof(error));
  status = kiln_opencl_open(NULL, 0, &opencl, &error);
  if (status == KILN_OK) status = kiln_device_from_cl(opencl, device, &programs->opened, &error);
  kiln_opencl_release(opencl);
  if (status == KILN_OK && (programs->pack != NULL || programs->pack_data != NULL)) {
    status = programs->pack != NULL
                 ? kiln_pack_open_file(programs->pack, &pack, &error)
                 : kiln_pack_open_memory(programs->pack_data, programs->pack_size, &pack, &error);
    if (status == KILN_OK) status = kiln_program_loader(programs, pack, &programs->loader, &error);
  }
  if (status == KILN_OK) error.message[0] = '\0';
  memcpy(programs->why, error.message, sizeof(error.message));
}

/** Chooses where to load the program from: the pack if a binary is there, else a loader that `kept`
 * gets for what the overlay keeps, else the pack's source, so that the overlay keeps its binary.
 * Returns NULL if none has the program; `error` says why. */
static inline kiln_loader *kiln_program_choose(const kiln_program_options *programs,
                                               const char *name, kiln_loader **kept,
                                               kiln_error *error) {
  kiln_report *report = NULL;
  kiln_error missing;
  kiln_status status = KILN_ERROR_NOT_IN_PACK;
  if (programs->loader != NULL) {
    status = kiln_load_dry_run(programs->loader, name, NULL, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE,
                               &report, error);
    kiln_report_release(report);
  }
  if (status == KILN_OK) return programs->loader;
  if (programs->overlay == NULL) return NULL;
  if (kiln_program_kept(programs, name, kept, &missing) == KILN_OK) return *kept;
  if (programs->loader == NULL && programs->why[0] == '\0') *error = missing;
  return status == KILN_ERROR_NO_RUNG ? programs->loader : NULL;
}

/** Loads the program from the pack or the overlay, or returns NULL; the caller owns the program.
 * `name` is "", and gets the program's name unless the program must not be kept. */
static inline cl_program kiln_program_find(cl_context context, cl_device_id device,
                                           const char *source, const char *options,
                                           kiln_program_options *programs, char *name) {
  /* The source is a way out if the driver crashed on the binary. */
  const unsigned flags = KILN_LOAD_NO_IL | (programs->overlay == NULL ? KILN_LOAD_NO_SOURCE : 0);
  kiln_loader *kept = NULL, *loader = NULL;
  kiln_program *loaded = NULL;
  kiln_report *report = NULL;
  kiln_error error;
  cl_program program = NULL;
  kiln_program_open(context, device, programs);
  memcpy(error.message, programs->why, sizeof(error.message));
  if (programs->opened != NULL && kiln_recorded_name(source, strlen(source), options, name,
                                                     KILN_RECORDED_NAME_SIZE, &error) == KILN_OK) {
    memcpy(error.message, programs->why, sizeof(error.message));
    loader = kiln_program_choose(programs, name, &kept, &error);
  }
  if (loader != NULL && kiln_load(loader, name, NULL, flags, &loaded, &report, &error) == KILN_OK &&
      clRetainProgram(kiln_program_cl(loaded)) == CL_SUCCESS) {
    program = kiln_program_cl(loaded);
  }
  if (programs->report != NULL) {
    programs->report(program != NULL ? kiln_report_json(report) : error.message, programs->user);
  }
  kiln_report_release(report);
  kiln_program_release(loaded);
  kiln_loader_release(kept);
  return program;
}

/** Notes a program that was built from source, for kiln_program_close(). */
static inline void kiln_program_note(kiln_program_options *programs, const char *name,
                                     const char *source, const char *options, cl_program program) {
  const size_t source_size = strlen(source) + 1, options_size = strlen(options) + 1;
  kiln_program_built *built = programs->built;
  while (built != NULL && strcmp(built->name, name) != 0) built = built->next;
  if (built != NULL) return; /* built before in this process */
  built = (kiln_program_built *)malloc(sizeof(*built) + source_size + options_size);
  if (built == NULL || clRetainProgram(program) != CL_SUCCESS) {
    free(built);
    return;
  }
  built->program = program;
  strcpy(built->name, name);
  memcpy(built->source, source, source_size);
  memcpy(built->source + source_size, options, options_size);
  built->options = built->source + source_size;
  built->next = programs->built;
  programs->built = built;
}

/** Gives a program that is built for the device: from the pack, from the overlay, or from source.
 * @param context a context with the device.
 * @param device the only device that the program is built for.
 * @param source the whole source.
 * @param options the build options; may be NULL.
 * @param programs NULL, or without a pack and an overlay: builds from source, as without Kiln.
 * @param program the program, which the caller releases. If the build fails, the program too, for
 * the caller to read the build log and to release; NULL if there is none.
 * @return the status of clCreateProgramWithSource() or clBuildProgram(). Kiln's own errors are none
 * of the caller's: they go to `programs->report`, and the source is built. */
static inline cl_int kiln_program_build(cl_context context, cl_device_id device, const char *source,
                                        const char *options, kiln_program_options *programs,
                                        cl_program *program) {
  const char *words = options != NULL ? options : "";
  char name[KILN_RECORDED_NAME_SIZE] = "";
  cl_int status = CL_SUCCESS;
  *program = NULL;
  if (programs != NULL &&
      (programs->pack != NULL || programs->pack_data != NULL || programs->overlay != NULL)) {
    *program = kiln_program_find(context, device, source, words, programs, name);
  }
  if (*program != NULL) return CL_SUCCESS;
  *program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
  if (*program == NULL) return status;
  status = clBuildProgram(*program, 1, &device, options, NULL, NULL);
  if (status == CL_SUCCESS && name[0] != '\0' && programs->overlay != NULL) {
    kiln_program_note(programs, name, source, words, *program);
  }
  return status;
}

#ifdef __cplusplus
}
#endif

#endif /* KILN_KILN_PROGRAM_H */
