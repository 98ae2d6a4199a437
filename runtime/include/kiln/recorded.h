/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Programs by source and options: the names that `kiln record` gives to programs, and programs that
 * an overlay keeps although no pack has them. Adapters use the names where no OpenCL layer can be
 * used: they have the source and options of a build, and load the matching program from a pack of
 * recorded programs. kiln_program.h keeps programs. This is a library of its own (kiln::recorded),
 * since it reads the files that a source includes and writes packs, and the runtime does neither;
 * the conventions of kiln.h hold. */
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

/** Finds the pack of a program that kiln_recorded_store(), or the layer, stored in an overlay for
 * this device and its present driver. The pack has one program and one binary. It is checked; load
 * it with the same overlay, and the driver is not given again what it crashed on. The device stays
 * open until the process ends.
 * @param overlay the overlay's folder, as for kiln_loader_use_overlay().
 * @param device a device of the OpenCL library that kiln_opencl_open() opens by default.
 * @param name from kiln_recorded_name().
 * @param file gets a descriptor for kiln_pack_open_descriptor(), which the caller closes. It is no
 * path, so that nobody can put another file in its place.
 * @param size gets the file's size.
 * @param error #KILN_ERROR_NOT_IN_PACK if the overlay has no such file, or if the file is damaged
 * or may have been written by another user. */
kiln_status kiln_recorded_find(const char *overlay, cl_device_id device, const char *name,
                               int *file, uint64_t *size, kiln_error *error);

/** Stores a built program in an overlay, for kiln_recorded_find() at later starts. Asks the driver
 * for the program's binary: PoCL compiles then. Compiles the program again if its source includes
 * files or its options name folders, so that the binary is that of the named text. Removes the
 * least recently used files if the overlay exceeds 1 GiB.
 * @param overlay the overlay's folder; it is made if its parent exists.
 * @param device the device whose binary is stored, as for kiln_recorded_find().
 * @param program was built from `source` with `options`.
 * @param source, size, options as for kiln_recorded_name().
 * @param name what kiln_recorded_name() gave before the program was built.
 * @param error #KILN_ERROR_NOT_IN_PACK if the program has another name now, since a file that it
 * includes was changed; #KILN_ERROR_REQUIREMENT if it has no kernels; #KILN_ERROR_PACK_IO if the
 * file cannot be written; others if the driver gives no binary. */
kiln_status kiln_recorded_store(const char *overlay, cl_device_id device, cl_program program,
                                const char *source, size_t size, const char *options,
                                const char *name, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RECORDED_H */
