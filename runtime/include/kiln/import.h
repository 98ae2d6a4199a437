/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Buffers and images over memory of other parts of the system, such as the frames of a camera or a
 * video decoder: dma-bufs of Linux and hardware buffers of Android. Nothing is copied. As
 * sequence.h this is of a library of its own, kiln::launch; the conventions of kiln.h hold here.
 *
 * The memory stays the caller's: Kiln neither closes the file descriptor nor releases the hardware
 * buffer. Both must stay open, and their memory valid, until the kiln_buffer or kiln_image is
 * released and no command uses it.
 *
 * Of the extensions named below the first that the device has is used. Memory that Khronos's
 * extension imported belongs to its other users until kiln_buffer_acquire_external() or
 * kiln_image_acquire_external(), and again after the release; for memory imported otherwise these
 * calls only order commands, so an application can always make them. It has to wait for the release
 * before another part of the system uses the memory. */
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

/** Creates a buffer over the first `size` bytes of a dma-buf, by cl_khr_external_memory_dma_buf,
 * cl_arm_import_memory_dma_buf or cl_qcom_dmabuf_host_ptr.
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
 * AHARDWAREBUFFER_FORMAT_BLOB, by cl_khr_external_memory_android_hardware_buffer,
 * cl_arm_import_memory_android_hardware_buffer or cl_qcom_android_ahardwarebuffer_host_ptr.
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

/** A 2D image of 8-bit normalised channels (CL_UNORM_INT8) in memory. Start from zeros with `size`
 * set to sizeof(kiln_image_layout). */
typedef struct kiln_image_layout {
  size_t size;       /**< sizeof(kiln_image_layout) */
  size_t width;      /**< In pixels; of a plane of chroma half of the frame's. */
  size_t height;     /**< In rows; of a plane of chroma half of the frame's. */
  unsigned channels; /**< 1 for CL_R, 2 for CL_RG, 4 for CL_RGBA. */
  size_t offset;     /**< Of the first pixel in the buffer, in bytes. */
  /** Bytes from row to row: AHardwareBuffer_Desc's stride times `channels`, or a plane's rowStride;
   * 0: the rows have no gaps. */
  size_t row_pitch;
} kiln_image_layout;

/** Creates an image over part of a buffer, by cl_khr_image2d_from_buffer: a frame, or one of its
 * planes, in an imported dma-buf, for example. Kernels use it as they may use the buffer.
 * @param buffer stays the caller's; its memory lives as long as the image.
 * @param layout `row_pitch` times `height` bytes from `offset` on must be within the buffer.
 * `row_pitch` must be a multiple of CL_DEVICE_IMAGE_PITCH_ALIGNMENT pixels, `offset` of
 * CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT pixels and of CL_DEVICE_MEM_BASE_ADDR_ALIGN bits; else
 * #KILN_ERROR_ARGUMENT says which multiple the device wants.
 * @param out the image.
 * @param error #KILN_ERROR_REQUIREMENT if the device lacks the extension. #KILN_ERROR_OPENCL if the
 * driver refuses. */
KILN_API kiln_status kiln_image_from_buffer(const kiln_buffer *buffer,
                                            const kiln_image_layout *layout, kiln_image **out,
                                            kiln_error *error);

/** What of a frame an image is. Any other number is #KILN_ERROR_ARGUMENT. */
typedef enum kiln_plane {
  KILN_PLANE_NONE = 0,  /**< All of it: a pixel has all channels, as in R8G8B8A8_UNORM. */
  KILN_PLANE_LUMA = 1,  /**< Y of a frame of two planes (NV12), in 1 channel. */
  KILN_PLANE_CHROMA = 2 /**< Cb and Cr of such a frame, in 2 channels. */
} kiln_plane;

/** Creates an image over a frame in an AHardwareBuffer, or over a plane of a Y8Cb8Cr8_420. By
 * cl_khr_external_memory_android_hardware_buffer, which names no planes;
 * cl_arm_import_memory_android_hardware_buffer, as a buffer and kiln_image_from_buffer(), unless
 * the driver makes it an image; or cl_qcom_android_ahardwarebuffer_host_ptr, for planes with
 * cl_qcom_other_image, which takes Qualcomm's NV12 in rows.
 * @param loader the loader with the context.
 * @param hardware_buffer as for kiln_buffer_from_hardware_buffer(), with one layer.
 * @param plane the plane, or #KILN_PLANE_NONE.
 * @param layout as AHardwareBuffer_describe() and AHardwareBuffer_lockPlanes() tell it; `offset`
 * must be 0. #KILN_ERROR_ARGUMENT if Khronos's driver knows another width or height.
 * @param options as for kiln_buffer_from_hardware_buffer().
 * @param out the image.
 * @param error as for kiln_buffer_from_dma_buf() and kiln_image_from_buffer(). */
KILN_API kiln_status kiln_image_from_hardware_buffer(kiln_loader *loader, void *hardware_buffer,
                                                     kiln_plane plane,
                                                     const kiln_image_layout *layout,
                                                     const kiln_import_options *options,
                                                     kiln_image **out, kiln_error *error);

/** Enqueues that commands after it may use the imported memory, and see what others wrote. After
 * the events in `wait`, and gives an event. */
KILN_API kiln_status kiln_buffer_acquire_external(kiln_queue *queue, kiln_buffer *buffer,
                                                  const kiln_event *const *wait, size_t wait_count,
                                                  kiln_event **event, kiln_error *error);
/** Enqueues that the commands before it have used the imported memory, for others to see. */
KILN_API kiln_status kiln_buffer_release_external(kiln_queue *queue, kiln_buffer *buffer,
                                                  const kiln_event *const *wait, size_t wait_count,
                                                  kiln_event **event, kiln_error *error);
/** As kiln_buffer_acquire_external(); of an image of an imported buffer it acquires the buffer. */
KILN_API kiln_status kiln_image_acquire_external(kiln_queue *queue, kiln_image *image,
                                                 const kiln_event *const *wait, size_t wait_count,
                                                 kiln_event **event, kiln_error *error);
/** As kiln_buffer_release_external(). */
KILN_API kiln_status kiln_image_release_external(kiln_queue *queue, kiln_image *image,
                                                 const kiln_event *const *wait, size_t wait_count,
                                                 kiln_event **event, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_IMPORT_H */
