/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * The contents of a pack, for applications that do not know the names of their programs beforehand,
 * such as one with a whole folder of sources and every set of build options, and for applications
 * that know them from another version of the pack. The conventions of
 * kiln.h hold here. */
#ifndef KILN_LISTING_H
#define KILN_LISTING_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A kernel of a pack. The strings belong to the pack and live as long as it does; none is NULL.
 * May gain members at its end. */
typedef struct kiln_pack_kernel {
  const char *program; /**< Name of the program, for kiln_load(). */
  const char *variant; /**< Name of the variant, for kiln_load(). */
  const char *options; /**< Build options of the variant; may be "". */
  const char *kernel;  /**< Name of the kernel, for kiln_kernel_create() or clCreateKernel. */
  uint32_t arguments;  /**< Number of arguments; UINT32_MAX: not known, of a recorded program. */
} kiln_pack_kernel;

/** Called once per kernel. The struct is valid during the call; its strings live as long as the
 * pack. */
typedef void (*kiln_pack_kernel_function)(const kiln_pack_kernel *kernel, void *user);

/** Calls `each` for every kernel of every variant of every program, on the calling thread. Programs
 * and variants come in the order of their names, kernels in the order of the variant. Does not
 * check what a device can run; kiln_load_dry_run() does. Does nothing if `pack` or `each` is
 * NULL. */
KILN_API void kiln_pack_kernels(const kiln_pack *pack, kiln_pack_kernel_function each, void *user);

/** Returns a hash of the contents of a program in the loader's pack: of the source and the build
 * options of all its variants, not of their binaries. Headers that `kiln stubs` writes compare it
 * with that of the pack that they were made from. 0 if there is no such program, or an argument is
 * NULL. */
KILN_API uint64_t kiln_loader_program_hash(const kiln_loader *loader, const char *program);

#ifdef __cplusplus
}
#endif

#endif /* KILN_LISTING_H */
