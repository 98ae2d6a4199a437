/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The interface of a reference library: a shared object whose functions compute what the variants
 * of a program must compute. A manifest names a function of the library with
 *
 *     reference = "library:libmine.so:blur"
 *
 * and `kiln run` and `kiln tune` compare results with the output of that function. The library
 * exports kiln_reference_version() and, for each program, one function of the type
 * #kiln_reference_function under a name of its own:
 *
 *     #include <kiln/reference.h>
 *
 *     KILN_REFERENCE_DEFINE_VERSION
 *
 *     KILN_REFERENCE_EXPORT int32_t blur(const kiln_reference_call *call) { ... return 0; }
 *
 * Kiln loads the library into a separate process for each call: a function that crashes, hangs or
 * exits fails one check. The library needs nothing of Kiln but this header, and may be written in
 * any language with a C interface.
 */
#ifndef KILN_REFERENCE_H
#define KILN_REFERENCE_H

#include <stdint.h>

#ifdef __cplusplus
#define KILN_REFERENCE_C extern "C"
#else
#define KILN_REFERENCE_C
#endif

/** Exports a function, so that Kiln finds it. */
#define KILN_REFERENCE_EXPORT KILN_REFERENCE_C __attribute__((visibility("default")))

/** The version of this interface. Kiln refuses a library of another version. */
#define KILN_REFERENCE_VERSION 1

/** The type of an element, by its name in OpenCL. */
enum kiln_reference_type {
  KILN_REFERENCE_UCHAR = 0,
  KILN_REFERENCE_USHORT = 1,
  KILN_REFERENCE_UINT = 2,
  KILN_REFERENCE_INT = 3,
  KILN_REFERENCE_FLOAT = 4,
  KILN_REFERENCE_HALF = 5, /**< 16 bits, IEEE 754. */
  KILN_REFERENCE_CHAR = 6,
  KILN_REFERENCE_SHORT = 7,
  KILN_REFERENCE_LONG = 8,
  KILN_REFERENCE_ULONG = 9,
  KILN_REFERENCE_DOUBLE = 10
};

/** An input or an output: rows from top to bottom without padding, channels interleaved. */
typedef struct kiln_reference_plane {
  const char *name; /**< Name in the manifest's argument; "" if it has none. */
  uint32_t type;    /**< A #kiln_reference_type. */
  uint32_t channels;
  uint32_t width;  /**< Pixels in a row. */
  uint32_t height; /**< Rows; for a volume, the rows of all slices. */
  uint64_t bytes;  /**< width * height * channels * the size of an element. */
  void *data;      /**< Aligned for any element. An input must not be written. */
} kiln_reference_plane;

/** A parameter of the kernel with its value in this launch. */
typedef struct kiln_reference_parameter {
  const char *name;
  const double *values; /**< One for each component, for every parameter type. */
  uint32_t components;
  uint32_t reserved; /**< 0. */
} kiln_reference_parameter;

/** One problem. Kiln owns all memory behind its pointers, which is valid during the call. */
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
  char *message;         /**< A function that fails may write the reason here, ending with NUL. */
  uint64_t message_size; /**< Bytes at `message`. */
} kiln_reference_call;

/**
 * Computes the outputs of one problem. The manifest decides which planes and parameters there are,
 * so a function should check that they are the ones it expects.
 *
 * @return 0 when every output was written; any other number when there is no result.
 */
typedef int32_t kiln_reference_function(const kiln_reference_call *call);

/** Returns the KILN_REFERENCE_VERSION of the library's build; every library exports it. */
KILN_REFERENCE_EXPORT uint32_t kiln_reference_version(void);

/** Defines kiln_reference_version(); a library contains it once. */
#define KILN_REFERENCE_DEFINE_VERSION \
  KILN_REFERENCE_EXPORT uint32_t kiln_reference_version(void) { return KILN_REFERENCE_VERSION; }

#endif /* KILN_REFERENCE_H */
