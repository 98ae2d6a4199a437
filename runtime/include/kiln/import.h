/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Buffers over memory of other parts of the system, such as the frames of a camera or a video
 * decoder: dma-bufs of Linux and hardware buffers of Android. Nothing is copied. The conventions of
 * kiln.h hold here.
 *
 * The memory stays the caller's: Kiln neither closes the file descriptor nor releases the hardware
 * buffer. Both must stay open, and their memory valid, until the kiln_buffer is released and no
 * command uses it. The application orders its commands with other users of the memory. */
#ifndef KILN_IMPORT_H
#define KILN_IMPORT_H

#include "kiln/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the host's caches hold the memory, as its allocator says. Any other number is
 * #KILN_ERROR_ARGUMENT. */
typedef enum kiln_host_cache {
  KILN_HOST_CACHE_NONE = 0, /**< Uncached, or the host does not use the memory. */
  /** Cached; mapping and unmapping the buffer keep the caches and the device in step. */
  KILN_HOST_CACHE_WRITEBACK = 1,
  KILN_HOST_CACHE_COHERENT = 2 /**< Cached, and the hardware keeps them in step. */
} kiln_host_cache;

/** Options of an import. Start from zeros with `size` set to sizeof(kiln_import_options). As for
 * kiln_loader_options, shorter structs are accepted, and unknown options that are set are not. */
typedef struct kiln_import_options {
  size_t size;                /**< sizeof(kiln_import_options) */
  kiln_access access;         /**< How kernels and the host use the buffer. */
  kiln_host_cache host_cache; /**< How the host caches the memory. */
  /** Only for Qualcomm's dma-bufs, otherwise ignored: the address at which the application has
   * mapped the dma-buf, from its beginning, for as long as the buffer lives. */
  void *mapped;
} kiln_import_options;

/** Creates a buffer over the first `size` bytes of a dma-buf, by cl_arm_import_memory_dma_buf or
 * cl_qcom_dmabuf_host_ptr, whichever the device has, in that order.
 * @param loader the loader with the context.
 * @param fd a dma-buf; any other file is #KILN_ERROR_ARGUMENT.
 * @param size at least 1, and within the dma-buf, which on Qualcomm's devices must have
 * CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM bytes more; else #KILN_ERROR_ARGUMENT.
 * @param options #KILN_ERROR_ARGUMENT if NULL, and on Qualcomm's devices if `mapped` is NULL or not
 * a multiple of the device's page size.
 * @param out the buffer; kiln_buffer_zero_copy() returns 1 for it.
 * @param error #KILN_ERROR_REQUIREMENT if the device lacks the extensions, or for
 * #KILN_HOST_CACHE_COHERENT Qualcomm's cl_qcom_ext_host_ptr_iocoherent. #KILN_ERROR_OPENCL if the
 * driver refuses. */
KILN_API kiln_status kiln_buffer_from_dma_buf(kiln_loader *loader, int fd, size_t size,
                                              const kiln_import_options *options, kiln_buffer **out,
                                              kiln_error *error);

/** Creates a buffer over the first `size` bytes of an AHardwareBuffer of the format
 * AHARDWAREBUFFER_FORMAT_BLOB, by cl_arm_import_memory_android_hardware_buffer or
 * cl_qcom_android_ahardwarebuffer_host_ptr.
 * @param loader the loader with the context.
 * @param hardware_buffer an AHardwareBuffer; Kiln passes it on and links no Android library.
 * @param size at least 1, and within the memory if the driver tells the memory's size; else
 * #KILN_ERROR_ARGUMENT.
 * @param options as for kiln_buffer_from_dma_buf(), without `mapped`.
 * @param out as for kiln_buffer_from_dma_buf().
 * @param error as for kiln_buffer_from_dma_buf(). */
KILN_API kiln_status kiln_buffer_from_hardware_buffer(kiln_loader *loader, void *hardware_buffer,
                                                      size_t size,
                                                      const kiln_import_options *options,
                                                      kiln_buffer **out, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_IMPORT_H */
