/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The interface of a reference library: a shared object whose functions compute what the variants
 * of a program must compute. A manifest names one with
 *
 *     reference = "library:libmine.so:blur"
 *
 * and `kiln run` and `kiln tune` compare results with what it gives. The library exports
 * kiln_reference_version() and, under a name of its own, one function of the type
 * #kiln_reference_function for each program:
 *
 *     #include <kiln/reference.h>
 *
 *     KILN_REFERENCE_DEFINE_VERSION
 *
 *     KILN_REFERENCE_EXPORT int32_t blur(const kiln_reference_call *call) { ... return 0; }
 *
 * Kiln loads it into a process of its own for each call: a function that crashes, hangs or exits
 * fails one check. It needs nothing of Kiln but this header, and may be written in any language
 * with a C interface.
 */
#ifndef KILN_REFERENCE_H
#define KILN_REFERENCE_H

#include <stdint.h>

#ifdef __cplusplus
#define KILN_REFERENCE_C extern "C"
#else
#define KILN_REFERENCE_C
#endif

/** Before a function that Kiln is to find. */
#define KILN_REFERENCE_EXPORT KILN_REFERENCE_C __attribute__((visibility("default")))

/** The version of this interface. A library of another version is refused. */
#define KILN_REFERENCE_VERSION 1

/** Of an element, with OpenCL's names. */
enum kiln_reference_type {
  KILN_REFERENCE_UCHAR = 0,
  KILN_REFERENCE_USHORT = 1,
  KILN_REFERENCE_UINT = 2,
  KILN_REFERENCE_INT = 3,
  KILN_REFERENCE_FLOAT = 4,
  KILN_REFERENCE_HALF = 5 /**< 16 bits, as IEEE 754 has them. */
};

/** An input or an output: rows from top to bottom without padding, channels interleaved. */
typedef struct kiln_reference_plane {
  const char *name; /**< As the manifest's argument has it; "" if it has none. */
  uint32_t type;    /**< A #kiln_reference_type. */
  uint32_t channels;
  uint32_t width;  /**< Pixels in a row. */
  uint32_t height; /**< Rows; of a volume those of all its slices. */
  uint64_t bytes;  /**< width * height * channels * the size of an element. */
  void *data;      /**< Aligned for any element. An input must not be written. */
} kiln_reference_plane;

/** A parameter of the kernel with its value in this launch. */
typedef struct kiln_reference_parameter {
  const char *name;
  const double *values; /**< One for each component, whatever the parameter's type. */
  uint32_t components;
  uint32_t reserved; /**< 0. */
} kiln_reference_parameter;

/** One problem. All that it points to belongs to Kiln and is valid during the call. */
typedef struct kiln_reference_call {
  uint32_t width; /**< The problem's size; each side is at least 1. */
  uint32_t height;
  uint32_t depth;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t parameter_count;
  const kiln_reference_plane *inputs;         /**< In the order of the manifest's arguments. */
  const kiln_reference_plane *outputs;        /**< Likewise; filled with zeros. */
  const kiln_reference_parameter *parameters; /**< Sorted by name. */
  char *message;         /**< Where a function that fails may write why, with a NUL at the end. */
  uint64_t message_size; /**< Bytes at `message`. */
} kiln_reference_call;

/**
 * Computes the outputs of one problem. The manifest decides which planes and parameters there are,
 * so a function checks that they are those that it takes.
 *
 * @return 0 when every output was written; any other number when there is no result.
 */
typedef int32_t kiln_reference_function(const kiln_reference_call *call);

/** What every library exports: the KILN_REFERENCE_VERSION that it was compiled with. */
KILN_REFERENCE_EXPORT uint32_t kiln_reference_version(void);

/** Defines kiln_reference_version(); to be written once in a library. */
#define KILN_REFERENCE_DEFINE_VERSION \
  KILN_REFERENCE_EXPORT uint32_t kiln_reference_version(void) { return KILN_REFERENCE_VERSION; }

#endif /* KILN_REFERENCE_H */
