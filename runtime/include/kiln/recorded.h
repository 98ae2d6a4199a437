/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * The names that `kiln record` gives to programs: for adapters that have the source and options of
 * a build at hand and load what a pack of recorded programs has for it, where no OpenCL layer can
 * do so. A library of its own (kiln::recorded), since it reads the files that a source includes,
 * and the runtime knows nothing of sources; the conventions of kiln.h hold. */
#ifndef KILN_RECORDED_H
#define KILN_RECORDED_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The bytes of a name with its NUL. */
#define KILN_RECORDED_NAME_SIZE 36

/** What packs of recorded programs call a program: the name for kiln_load(). It stands for the
 * source with the text of the files that it includes, and for the options but -I, byte for byte;
 * docs/layer.md says where files are looked for. Reads those files each time.
 * @param source what clCreateProgramWithSource() takes, its strings joined.
 * @param size of the source.
 * @param options what clBuildProgram() takes.
 * @param name gets #KILN_RECORDED_NAME_SIZE bytes.
 * @param room the bytes that there are at `name`: #KILN_ERROR_ARGUMENT if they are fewer.
 * @param error #KILN_ERROR_NOT_IN_PACK for a program that is never recorded, since what a compiler
 * makes of it may depend on more than its text and files; the message says on what. */
kiln_status kiln_recorded_name(const char *source, size_t size, const char *options, char *name,
                               size_t room, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RECORDED_H */
