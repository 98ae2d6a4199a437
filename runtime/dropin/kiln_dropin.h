/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of packs for programs that have a cache of binaries of their own: kiln_dropin.h and
 * kiln_dropin.c, in C99. Copy both; they need xxhash.h (Debian: libxxhash-dev) and CL/cl.h. They
 * link nothing, start no thread, allocate no memory, open no file, and keep no state: all functions
 * may be called from any thread.
 *
 *   static char facts[KILN_DROPIN_FACT_BYTES];
 *   kiln_dropin_device self;
 *   kiln_dropin_pack pack;
 *   kiln_dropin_target target;
 *   kiln_dropin_code code;
 *   const char *why = kiln_dropin_open(&pack, bytes, size);
 *   if (why == NULL) why = kiln_dropin_identify(clGetPlatformInfo, clGetDeviceInfo, device, facts,
 *                                               sizeof(facts), &self);
 *   if (why == NULL) why = kiln_dropin_find_target(&pack, &self, 0, &target);
 *   if (why == NULL) why = kiln_dropin_find(&pack, &target, "laplace", NULL, KILN_DROPIN_BINARY,
 *                                           NULL, 0, &code);
 *   if (why != NULL) ...                              a sentence; the cache goes on as before
 *   program = clCreateProgramWithBinary(context, 1, &device, &code.size, &code.bytes, NULL, &e);
 *   e = clBuildProgram(program, 1, &device, code.options, NULL, NULL);
 *
 * Every hash, offset and size is checked before it is used, so that damaged bytes never reach a
 * driver. Known-bad notes, proofs that a variant requires, and a binary's driver are looked at as
 * the runtime does.
 *
 * What only the runtime (kiln/kiln.h, kiln/kiln_program.h) does: it chooses the variant, tries
 * SPIR-V and source in turn, notices that a driver recompiled a binary, remembers binaries on which
 * a driver died or hung, keeps what it compiled, reports each load, checks signatures, and on
 * NVIDIA takes cubins for lower compute capabilities and PTX.
 *
 * Blobs that are compressed need KILN_DROPIN_DECOMPRESS when kiln_dropin.c is compiled: the name of
 * a function like ZSTD_decompress(), which decodes one zstd frame and returns its size. Packs of
 * `kiln pack merge --compress fleet`, whose blobs may need other blobs, are read by the runtime
 * alone. */
#ifndef KILN_DROPIN_H
#define KILN_DROPIN_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300 /* cl.h's own choice, without its message */
#endif
#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open pack. The members are for kiln_dropin.c alone. */
typedef struct kiln_dropin_pack {
  const unsigned char *bytes, *root;
  uint64_t size, root_size;
} kiln_dropin_pack;

/* What a driver says of itself and of a device, in the order of the fields of `kiln devices`. A
 * null pointer: it does not say. */
enum { KILN_DROPIN_FACTS = 18, KILN_DROPIN_FACT_BYTES = 32768 };
typedef struct kiln_dropin_device {
  const char *facts[KILN_DROPIN_FACTS];
} kiln_dropin_device;

/* The binaries for one kind of device. The members are for kiln_dropin.c alone. */
typedef struct kiln_dropin_target {
  const unsigned char *section;
  uint64_t size;
  const kiln_dropin_device *device;
} kiln_dropin_target;

typedef enum kiln_dropin_form {
  KILN_DROPIN_BINARY, /* for clCreateProgramWithBinary() */
  KILN_DROPIN_IL32,   /* SPIR-V for 32-bit and 64-bit addresses, for clCreateProgramWithIL() */
  KILN_DROPIN_IL64,
  KILN_DROPIN_SOURCE /* for clCreateProgramWithSource() */
} kiln_dropin_form;

typedef struct kiln_dropin_code {
  const unsigned char *bytes; /* in the pack, or in the caller's memory if they were compressed */
  size_t size;                /* also set if the caller's memory is too small for the bytes */
  /* For clBuildProgram(), in the pack. For a binary a null pointer, or the one option that PoCL
   * needs again. Of SPIR-V's, pass only those that begin with -cl-, and neither -cl-std= nor
   * -cl-kernel-arg-info. */
  const char *options;
  /* Of a binary's first launch: 1 compiles nothing, 2 compiles, 0 is not known, always on rusticl:
   * it compiles nothing only where Mesa's cache holds the pack's entries. */
  int finality;
} kiln_dropin_code;

/* Each function returns a null pointer, or a sentence that says why it failed: a constant. */

/* Opens a pack in memory, which must not change while the pack, its targets or its code are in use.
 * Checks its beginning and the hash of its root. */
const char *kiln_dropin_open(kiln_dropin_pack *pack, const void *bytes, size_t size);

/* Asks the driver for the facts of a device, which lie in `memory` (KILN_DROPIN_FACT_BYTES are
 * enough for every known driver). */
const char *kiln_dropin_identify(
    cl_int(CL_API_CALL *platform_info)(cl_platform_id, cl_platform_info, size_t, void *, size_t *),
    cl_int(CL_API_CALL *device_info)(cl_device_id, cl_device_info, size_t, void *, size_t *),
    cl_device_id device, char *memory, size_t size, kiln_dropin_device *out);

/* Finds the target for a device. With `key_hash` 0 it is the target whose own device says the same
 * in all facts of its binary key and in those by which Kiln recognises a driver. So its binary key
 * is this device's; but a target whose key alone is equal is not found. For that one, pass the
 * `key_hash` of `kiln devices --json`, as printed for this device with this driver.
 * `device` must live as long as the target. */
const char *kiln_dropin_find_target(const kiln_dropin_pack *pack, const kiln_dropin_device *device,
                                    uint64_t key_hash, kiln_dropin_target *target);

/* Gets a program's code. `variant` may be null if the program has only one. `target` may be null
 * except for binaries; without it, known-bad notes about SPIR-V and source are not looked at.
 * `memory` is needed for compressed code only. Whether a device meets the variant's requirements is
 * not checked: a binary was built where it did. */
const char *kiln_dropin_find(const kiln_dropin_pack *pack, const kiln_dropin_target *target,
                             const char *program, const char *variant, kiln_dropin_form form,
                             void *memory, size_t size, kiln_dropin_code *out);

#ifdef __cplusplus
}
#endif

#endif
