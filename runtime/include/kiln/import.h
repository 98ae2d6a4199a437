/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Buffers over memory of other parts of the system, such as a camera's or a video decoder's frames:
 * dma-bufs of Linux and hardware buffers of Android. Nothing is copied. The conventions of kiln.h
 * hold here.
 *
 * The memory stays the caller's: the file descriptor is not closed and the hardware buffer not
 * released by Kiln. Both are kept open, and what they name valid, until the kiln_buffer is released
 * and no command uses it. Who else uses the memory is ordered by the application. */
#ifndef KILN_IMPORT_H
#define KILN_IMPORT_H

#include "kiln/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the host's caches hold the memory, which is what its allocator says. Any other number is
 * #KILN_ERROR_ARGUMENT. */
typedef enum kiln_host_cache {
  KILN_HOST_CACHE_NONE = 0, /**< Not at all: uncached, or the host does not use it. */
  /** Cached; mapping and unmapping the buffer keep the caches and the device in step. */
  KILN_HOST_CACHE_WRITEBACK = 1,
  KILN_HOST_CACHE_COHERENT = 2 /**< Cached, and the hardware keeps them in step. */
} kiln_host_cache;

/** Start from zeros with `size` set to sizeof(kiln_import_options). What is said of
 * kiln_loader_options holds: shorter ones are accepted, unknown options that are set are not. */
typedef struct kiln_import_options {
  size_t size;                /**< sizeof(kiln_import_options) */
  kiln_access access;         /**< How kernels and the host use the buffer. */
  kiln_host_cache host_cache; /**< What the memory is. */
  /** For Qualcomm's dma-bufs, and else not looked at: the address at which the application has
   * mapped the dma-buf, from its beginning, as long as the buffer lives. */
  void *mapped;
} kiln_import_options;

/** A buffer over the first `size` bytes of a dma-buf, by cl_arm_import_memory_dma_buf or
 * cl_qcom_dmabuf_host_ptr, whichever the device has, in that order.
 * @param loader on whose context.
 * @param fd of the dma-buf; anything else is #KILN_ERROR_ARGUMENT.
 * @param size at least 1, and within the dma-buf, which on Qualcomm's devices must have
 * CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM more; else #KILN_ERROR_ARGUMENT.
 * @param options NULL is #KILN_ERROR_ARGUMENT, and so is on Qualcomm's devices a `mapped` that is
 * NULL or no multiple of the device's page size.
 * @param out the buffer; kiln_buffer_zero_copy() of it is 1.
 * @param error #KILN_ERROR_REQUIREMENT if the device lacks the extensions, or for
 * #KILN_HOST_CACHE_COHERENT Qualcomm's cl_qcom_ext_host_ptr_iocoherent. #KILN_ERROR_OPENCL if the
 * driver refuses. */
KILN_API kiln_status kiln_buffer_from_dma_buf(kiln_loader *loader, int fd, size_t size,
                                              const kiln_import_options *options, kiln_buffer **out,
                                              kiln_error *error);

/** A buffer over the first `size` bytes of an AHardwareBuffer of the format
 * AHARDWAREBUFFER_FORMAT_BLOB, by cl_arm_import_memory_android_hardware_buffer or
 * cl_qcom_android_ahardwarebuffer_host_ptr.
 * @param loader on whose context.
 * @param hardware_buffer an AHardwareBuffer; Kiln passes it on and links nothing of Android's.
 * @param size at least 1; where the driver tells the memory's size, within it; else
 * #KILN_ERROR_ARGUMENT.
 * @param options as above, without `mapped`.
 * @param out as above.
 * @param error as above. */
KILN_API kiln_status kiln_buffer_from_hardware_buffer(kiln_loader *loader, void *hardware_buffer,
                                                      size_t size,
                                                      const kiln_import_options *options,
                                                      kiln_buffer **out, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_IMPORT_H */
