/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * The names that `kiln record` gives to programs. Adapters use them where no OpenCL layer can be
 * used: they have the source and options of a build, and load the matching program from a pack of
 * recorded programs. This is a library of its own (kiln::recorded), since it reads the files that a
 * source includes and the runtime handles no source files; the conventions of kiln.h hold. */
#ifndef KILN_RECORDED_H
#define KILN_RECORDED_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Size of a name with its NUL, in bytes. */
#define KILN_RECORDED_NAME_SIZE 36

/** Finds the name of a program in packs of recorded programs, for kiln_load(). The name stands for
 * the source with the text of the files that it includes, and for the options except -I, byte for
 * byte; docs/use/layer.md says where files are looked for. Reads those files at each call.
 * @param source the strings given to clCreateProgramWithSource(), joined.
 * @param size size of `source`.
 * @param options the options given to clBuildProgram().
 * @param name gets #KILN_RECORDED_NAME_SIZE bytes.
 * @param room size of `name`; #KILN_ERROR_ARGUMENT if it is smaller than the name.
 * @param error #KILN_ERROR_NOT_IN_PACK for a program that is never recorded, since its compilation
 * may depend on more than its text and files; the message says on what. */
kiln_status kiln_recorded_name(const char *source, size_t size, const char *options, char *name,
                               size_t room, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RECORDED_H */
